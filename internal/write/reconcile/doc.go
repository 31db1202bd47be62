// Package reconcile explicitly resolves the workspaces of several writers: it finds out what git is in the middle of, has the logs and the
// other files merged (combine, threeway), and stages the result. Its merge driver keeps git from merging these files line by line. With the
// packages below it, it is the only place that writes ledgers.
//
// It compares logs as the gate does, and writes nothing that the gate would reject.
package reconcile
