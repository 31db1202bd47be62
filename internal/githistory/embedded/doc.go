// Package embedded reads repositories without a git program, over the plumbing
// of go-git. It answers the same questions as the reader of githistory, in the
// same words, or refuses; one suite of tests holds both to that.
//
// It is a package of its own so that go-git stays in it: nothing else imports
// the library, and what is shared with the git reader (the failures, the paths
// that matter) comes from githistory.
//
// Of go-git it takes the decoders: configuration, pack entries, deltas, loose
// objects. What go-git does besides was measured to be wrong or slow for a gate
// and is done here: finding the repository as git does, with git's environment
// variables; the index that git names; object directories with alternates and a
// server's quarantine; refs; the order of commits; comparisons. go-git's own
// storage decodes every pack index before it reads the first object, which in a
// repository of a million objects takes 168 ms; here an index is searched where
// it lies.
//
// What it does not serve it refuses by name, in an error with ErrUnserved in
// its chain: object formats other than sha1, refs in other storage than files,
// extensions that it does not know, versions above 1, a split index, objects
// that a partial clone left out, and names of revisions beyond the usual
// grammar. A missing or damaged object is an error and never an absent file.
//
// Real objects are judged: replace refs and grafts are not followed. A
// commit-graph is not used either, so that parents come from the commits
// themselves.
//
// Who owns the repository is not checked. git refuses another user's repository
// because its configuration and its hooks could run programs; this reader runs
// none, and the git reader, which runs git with such configuration switched
// off, allows the repository for its own commands too.
package embedded
