// Package reconcile makes the explicit resolution of two writers' logs: every
// entry of every side as it is written, merged by time, and one new entry that
// says so. It is also the merge driver that keeps git from merging these files
// line by line. It is the only package that writes ledgers.
//
// Whether something may be merged, and whether what comes out is right, is
// decided by package gate: nothing is written that the gate would not pass.
package reconcile
