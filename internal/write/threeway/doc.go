// Package threeway merges two versions of a workspace's plan, handoff and workspace.small.yml with their merge base: field by field, and
// the plan's tasks by their ids. It works on bytes and does no I/O.
//
// A change of one side is taken. A field that one side removed and the other changed stays. If both sides changed a field differently, a rule for
// that file decides, or the merge fails.
package threeway
