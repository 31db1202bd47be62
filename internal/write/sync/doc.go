// Package publish does what the command sync does: it puts a branch's own commits on top of its remote branch, or merges both where a rebase cannot do,
// and pushes. It uses the installed git.
//
// Package reconcile merges the logs, and the plan, handoff and workspace files in .small directories. All other files are called code here. git merges
// the code, in commits without the other files, in a scratch work tree below the git directory. After the push, the last step moves the user's branch, index and
// files to the commit that was pushed; until then they stay as they are. Two refs are written before that step and the push. They tell the next sync
// what to do if this one is killed.
package publish
