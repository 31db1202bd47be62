// Package report writes what the gate found, in the format that whoever reads it needs. formats.go lists the formats; each is a file, and large
// ones have a package below.
//
// Most of a report's text was written by others: paths, entries, commit messages. Every format escapes it: see package sanitize.
package report
