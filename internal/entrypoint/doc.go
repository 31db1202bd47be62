// Package entrypoint puts the judging commands together: each opens the repository, takes the configuration from the side that is trusted,
// and has the gate judge. Programs turn flags into one call, and the report into output and an exit status.
//
// Where each entry point looks, and whose configuration it takes, is the table in docs/entry-points.md.
package entrypoint
