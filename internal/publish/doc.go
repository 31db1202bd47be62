// Package publish brings a branch and its remote branch together and pushes: it drives the installed git.
//
// The commits are built in a scratch work tree below the git directory, where git merges the code; the workspaces' files, which git never
// sees there, are merged by package reconcile. Nothing of the user's is touched before the push, and after it once: the last step brings
// the branch and the work tree to what was pushed. Two refs, written before the push, are all that a sync leaves if it is killed.
package publish
