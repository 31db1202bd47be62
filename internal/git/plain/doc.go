// Package plain reads plain repositories without a git program, with go-git's storage and decoders. It answers the same questions as the
// reader of githistory, in the same words, or refuses; one test suite checks both.
//
// plain.go says which repositories are plain. Everything else that this reader does not support it refuses by name, in an error with
// ErrUnserved in its chain. A missing or damaged object is an error and never an absent file.
//
// Only the parts of go-git for git's formats are used. Its porcelain refuses valid repositories, reads the wrong index in hooks, and takes
// missing objects for absent files; its refs take the older packed id if a ref's file is empty.
//
// The repository's owner is not checked. git refuses another user's repository because its configuration and hooks could run programs; this
// reader runs none.
package plain
