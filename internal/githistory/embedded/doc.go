// Package embedded reads repositories without a git program. It answers the same
// questions as the reader of githistory, in the same words, or refuses; one suite
// of tests holds both to that.
//
// Of go-git it uses the types of ids and objects and the cache. Its porcelain and
// storage refuse valid repositories, read the wrong index in hooks, and take
// missing objects for absent files; its decoders are slower, and import much more.
// The tests compare ours with them.
//
// What it does not serve it refuses by name, in an error with ErrUnserved in its
// chain. A missing or damaged object is an error and never an absent file.
//
// Real objects are judged: replace refs, grafts and commit-graphs are not used.
//
// Who owns the repository is not checked. git refuses another user's repository
// because its configuration and hooks could run programs; this reader runs none.
package embedded
