// Package judge has a function for each judging command: it opens the repository, takes the configuration from the trusted side, and calls
// the gate. The programs turn flags into a call, and the report into output and an exit status.
//
// The table in docs/commands.md says what each entry point judges, and by whose configuration.
package judge
