// Package report writes what the gate found, in the format that the reader
// needs. Each format is one file with one function, named in the table of
// formats.go.
//
// Most of what a report says was written by others: paths, entries, commit
// names. No writer lets such text reach its output as it is. Plain text goes
// through Sanitize; the other formats escape by their own rules and, since
// logs of CI systems are read by programs, break workflow commands too.
package report
