// Package githistory reads repositories for internal/gate: commits, changed paths and file contents. The reader in this package runs the
// installed git. The package also holds the code that this reader shares with the one on go-git (git/plain).
//
// The reader runs git without a shell and with an environment of its own. It writes objects and refs only in Fetch and TryMerge, and when git
// fetches an object that a partial clone left out. It ignores replace refs and grafts: only the real objects count.
// If it cannot see something, such as commits beyond a shallow clone's boundary or a missing blob, it returns an error and never guesses.
package githistory
