// Package session has what every command starts with: the caller's request, the reader of the repository or directory, and the configuration of the
// trusted side.
package session
