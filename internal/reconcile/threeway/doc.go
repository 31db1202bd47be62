// Package threeway merges two versions of a workspace's plan, handoff and workspace.small.yml against the version from which they parted:
// field by field, and the plan's tasks by their ids. It works on bytes and does no I/O.
//
// What one side alone changed is taken. What one side removed and the other changed stays. What both changed differently is decided by
// the kind of file, or it stops the merge.
package threeway
