// Package program holds what both programs share: what the outside hands to a process, and how one begins.
package program

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
)

// Process is what a program gets from outside.
type Process struct {
	// Args begin with the program's name.
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string
}

// Getenv looks a variable up as os.Getenv does.
func (p Process) Getenv(key string) string { return Getenv(p.Environ, key) }

// Getenv looks a variable of an environment up. If it is set several times, the last one counts.
func Getenv(environ []string, key string) string {
	for _, kv := range slices.Backward(environ) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == key {
			return v
		}
	}
	return ""
}

// softMemory is how many bytes a process may take before it collects garbage more often; by default it could take twice what it
// needs.
const softMemory = 640 << 20

// collectLater has the first collection of garbage come at 16 MB of it and not at 4: nearly all processes end before that. From then
// on, memory grows as it always does.
func collectLater() {
	const usual = 100 // percent, for which the runtime begins at 4 MB
	debug.SetGCPercent(4 * usual)
	runtime.AddCleanup(new(Process), func(percent int) { debug.SetGCPercent(percent) }, usual)
}

// Run calls a program with what the operating system hands over, and returns its exit status. The context ends with the first
// interrupt.
func Run(run func(context.Context, Process) int) int {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
	if os.Getenv("GOGC") == "" {
		collectLater()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	// Writing to a pipe that nobody reads fails, instead of ending the process with a status of its own.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return run(ctx, Process{Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ()})
}
