// Small-hook is the gate for people and for git hooks: it judges workspaces of
// the SMALL protocol and the history of their logs, and installs itself as a
// hook.
//
// Exit status: 0 nothing is wrong, 1 there are findings, 2 it could not judge,
// 130 interrupted.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/small-gate/small-gate/internal/entrypoint"
)

func main() {
	entrypoint.BoundMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program as it would any other
	// A pipe that nobody reads fails the write, and so the judgement, instead of
	// ending the program.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	status := run(ctx, process{
		args: os.Args, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(),
	})
	os.Exit(status)
}
