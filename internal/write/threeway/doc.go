// Package threeway merges two versions of a workspace's plan, handoff and workspace.small.yml with their merge base: field by field, and
// the plan's tasks by their ids. It works on bytes and does no I/O.
//
// Changes made by only one side are taken. What one side removed and the other changed stays. Where both made different changes, the kind
// of file decides, or the merge stops.
package threeway
