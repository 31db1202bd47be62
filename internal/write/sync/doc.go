// Package publish does what the command sync does: it puts a branch's own commits on top of its remote branch and pushes. It uses the installed
// git.
//
// It builds the new commits in a scratch work tree below the git directory. In that work tree git merges the code. The workspaces' files are not
// there: package reconcile merges them. After the push, the last step moves the user's branch, index and files to the commit that was pushed;
// until then they stay as they are. Two refs that are written before the push tell the next sync what to do if this one is killed.
package publish
