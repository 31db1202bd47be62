// Package restore keeps what was recorded in one workspace's log, under that workspace's lock: it appends to the log and notes what is in
// it, puts back what somebody lost there, and mends commits that lost something.
package restore
