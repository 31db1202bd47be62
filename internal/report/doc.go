// Package report writes what the gate found, in the format that the reader needs.
// formats.go lists the formats; each is a file, and those that take more have a
// package below.
//
// Most of what a report says was written by others: paths, entries, commit names.
// No format lets such text reach its output as it is: see package sanitize.
package report
