// Package gitcmd runs the installed git. It is the only place that starts one: without a shell, in a fixed locale, with an environment
// that cannot change what git prints, and so that it ends when the context or this process does.
package gitcmd
