// Package install installs the git hooks that call small-hook, removes them, and proves that git would run them. It also sets up the merge
// driver.
//
// Each of our hooks is a short POSIX shell script, called a shim. It names the program by its absolute path, so that it works in clients
// that lack the user's PATH. An earlier hook is kept beside the shim and runs first. If a hook manager fills the directory, nothing is
// written unless the caller insists: the lines to add to the manager's own file are returned instead.
//
// Every error is a *failure.Error: outcome 2 of the command line.
package install
