// Package witness holds what a witness has seen of a repository's logs: its state, as JSON, and its signature. It works on bytes and does
// no I/O. FORMAT.md describes the format.
package witness
