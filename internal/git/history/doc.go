// Package githistory reads repositories. It is the only place that knows git: it returns commits, changed paths and file contents, as
// internal/gate needs them.
//
// The reader in this package runs the installed git, without a shell, in an environment of its own, and never writes, with one exception:
// git itself may fetch an object that a partial clone left out. It uses real objects only (replace refs and grafts are off). Anything that
// it cannot see, such as commits beyond the boundary of a shallow clone or a missing blob, is an error and never an answer.
package githistory
