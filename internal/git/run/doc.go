// Package gitcmd runs the installed git. No other package starts git. It runs git without a shell, in a fixed locale, and with an environment that
// cannot change what git prints. git ends when the context or this process ends.
package gitcmd
