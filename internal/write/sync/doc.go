// Package publish brings a branch and its remote branch together and pushes. It uses the installed git.
//
// It builds the commits in a scratch work tree below the git directory. There git merges the code; package reconcile merges the workspaces'
// files, which that work tree does not have. The user's branch, index and files change only once, in the last step after the push, which
// brings them to what was pushed. If a sync is killed after it has pushed, the next one finds out what to do from two refs, which are
// written before the push.
package publish
