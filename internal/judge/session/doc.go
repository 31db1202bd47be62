// Package session has the parts with which every judging command starts: the caller's request, the repository or directory that is read, and the
// configuration of the trusted side.
package session
