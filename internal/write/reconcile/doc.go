// Package reconcile merges the workspaces of several writers: it finds the operation that git has not finished, has the logs and the other
// files merged (combine, threeway), and stages the result. Its merge driver keeps git from merging these files line by line.
//
// It compares logs as the gate does, and writes nothing that the gate would reject.
package reconcile
