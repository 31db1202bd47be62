// Package hook installs the git hooks that call small-hook, removes them, and proves that git would run them. It sets up the merge driver.
//
// A hook of ours is a short POSIX shell script, called a shim. It names the program by its absolute path, so that it works in clients
// that do not have the user's PATH. A hook that was there before is kept beside the shim and runs first. Where a hook manager fills the
// directory, nothing is written unless the caller insists: the lines to add to the manager's own file are returned instead.
//
// Every error is a *gate.Failure: outcome 2 of the command line.
package hook
