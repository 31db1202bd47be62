// Package witness holds what a witness has seen of a repository's logs: its state, as JSON, and the signature under it. It decides
// from bytes and does no I/O. docs/witness.md describes the form.
package witness
