// Package embedded reads repositories without a git program, over the decoders of
// go-git. It answers the same questions as the reader of githistory, in the same
// words, or refuses; one suite of tests holds both to that.
//
// It is a package of its own so that go-git stays in it. go-git's porcelain and
// storage are not used: they refuse valid repositories, read the wrong index in
// hooks, and take missing objects for absent files.
//
// What it does not serve it refuses by name, in an error with ErrUnserved in its
// chain. A missing or damaged object is an error and never an absent file.
//
// Real objects are judged: replace refs, grafts and commit-graphs are not used.
//
// Who owns the repository is not checked. git refuses another user's repository
// because its configuration and hooks could run programs; this reader runs none.
package embedded
