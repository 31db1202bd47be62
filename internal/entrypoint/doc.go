// Package entrypoint holds the places from which the gate is called: for each
// it opens the repository, takes the policy from the side that is trusted
// there, and has the gate judge. Programs turn flags into one of its calls and
// the report that comes back into output and an exit status.
//
// Where each entry point looks, and whose policy it takes, is the table in
// docs/entry-points.md.
package entrypoint
