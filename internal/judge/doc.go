// Package judge assembles the judging commands: each opens the repository, takes the configuration from the trusted side, and has the
// gate judge. Programs turn flags into one call, and the report into output and an exit status.
//
// The table in docs/commands.md says what each entry point judges, and by whose configuration.
package judge
