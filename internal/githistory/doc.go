// Package githistory reads repositories. It is the only place that knows git:
// what it hands out are commits, changed paths and file contents, as
// internal/gate asks for them.
//
// The reader in this package drives the installed git, without a shell, in an
// environment of its own, and never writes: the one exception is git's own
// fetch of an object that a partial clone left out. It answers from real
// objects only (replace refs and grafts are switched off), and whatever it
// cannot see, such as commits behind the boundary of a shallow clone or a
// missing blob, is an error and never an answer.
package githistory
