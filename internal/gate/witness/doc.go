// Package witness reads and writes a witness's state, which holds the logs that it has seen in a repository, as JSON with a signature. It works on
// bytes and does no I/O. FORMAT.md describes the format.
package witness
