// Package gitcmd runs the installed git. It is the only place that starts one: without a shell, in a fixed locale, with an environment
// that cannot change what git prints, and ended together with the context or this process.
package gitcmd
