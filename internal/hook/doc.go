// Package hook installs the git hooks that call small-hook, takes them away again, and proves that git would run them.
//
// A hook of ours is a short POSIX shell script, called a shim. It names the program by its absolute path, so that it works in
// clients that do not have the user's PATH. A hook that was there before is kept as a file beside the shim and runs first. Where a
// hook manager rules the directory (husky, lefthook, pre-commit, prek, or any core.hooksPath), nothing is written unless the
// caller insists: the lines to add to the manager's own file are returned instead.
//
// Every error of this package means outcome 2 of the command line: nothing was judged, or nothing was installed. An error carries what
// happened, where, and what to type next. See [Error].
package hook
