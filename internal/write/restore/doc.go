// Package restore protects the entries of one log while the caller holds the log's lock: it appends entries, notes the log's content, puts
// back lost entries, and rewrites commits whose log lost entries.
package restore
