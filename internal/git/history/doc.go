// Package githistory reads repositories for internal/gate: commits, changed paths and file contents. The reader in this package runs the
// installed git; what the reader on go-git (git/plain) shares with it is here too.
//
// The reader runs git without a shell and with an environment of its own. It writes nothing, except that git may fetch an object that a partial
// clone left out, and that Fetch and TryMerge store what they are asked for. It ignores replace refs and grafts: only the real objects count.
// Whatever it cannot see, such as commits beyond the boundary of a shallow clone or a missing blob, is an error and never an answer.
package githistory
