// Package session is one piece of work in a repository or a directory: the caller's request, the reader that serves it, and the trusted
// side's configuration.
package session
