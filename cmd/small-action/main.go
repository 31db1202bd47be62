// Small-action is the gate for CI: it finds out where it runs and what is to be
// compared there, judges it, and writes reports. On GitHub, and on Forgejo and
// Gitea, it takes inputs, sets outputs and annotates; elsewhere it takes flags.
//
// Exit status: 0 nothing is wrong, 1 there are findings, 2 it could not judge.
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
	os.Exit(run(ctx, process{args: os.Args[1:], stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ()}))
}
