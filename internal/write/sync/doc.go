// Package publish does what the command sync does: it puts a branch's own commits on top of its remote branch and pushes. It uses the installed
// git. A workspace is a directory with a .small directory, and its files are those in .small.
//
// It builds the new commits in a scratch work tree below the git directory. There git merges all files except those of workspaces and logs, which
// are not there: package reconcile merges them. After the push, the last step moves the user's branch, index and files to the commit that was
// pushed; until then they stay as they are. Two refs are written before that step and the push. They tell the next sync what to do if this one is
// killed.
package publish
