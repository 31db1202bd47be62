// Package install installs the git hooks that call small-hook, removes them, and checks that git would run them. It also sets up the merge
// and diff drivers.
//
// Each of our hooks is a short POSIX shell script, called a shim. A shim that [Install] writes names the program by its absolute path, so that it works
// in clients that lack the user's PATH. The shims in this project's folder hooks, which a person may copy, look for the program on PATH.
//
// An earlier hook is kept beside the shim and runs first. Some hook managers rename a hook that they find when they write their own: they move it aside.
// pre-commit and prek then run the renamed hook. If that is our shim, it counts as installed, and is updated there.
//
// If a hook manager is recognised, and its files do not call the gate for each of the hooks yet, nothing is written unless [InstallOptions].Force is
// set: the result then says what to add to these files.
//
// failure.Of returns the message and the remedy of every error of this package. The command then ends with exit status 2.
package install
