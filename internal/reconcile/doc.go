// Package reconcile makes the explicit resolution of several writers' logs: every entry of every side unchanged, merged by time, and a
// new entry that records the merge. It also appends entries, and has the merge driver that keeps git from merging these files line by
// line. It is the only package that writes ledgers.
//
// It compares logs as the gate does, and writes nothing that the gate would reject.
package reconcile
