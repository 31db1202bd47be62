// Package session is one piece of work in a repository or a directory: what a caller asks for, the reader that serves it, and the
// configuration of the side that is trusted.
package session
