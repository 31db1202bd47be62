// Package reconcile makes the explicit resolution of several writers' workspaces: it finds out what git is in the middle of, has the logs
// and the other files merged (splice, threeway), and stages the result. It also appends entries, puts logs back, and has the merge driver
// that keeps git from merging these files line by line. It is the only package that writes ledgers.
//
// It compares logs as the gate does, and writes nothing that the gate would reject.
package reconcile
