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

// firstPercent has the first garbage be collected at a heap of 32 MB, where it would be at 4 MB: most runs end before.
const firstPercent = 800

// collectLate lets the heap grow before garbage is collected for the first time, and from then on as usual.
func collectLate() {
	usual := debug.SetGCPercent(firstPercent)
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}

// Run calls a program with what the operating system hands over, and returns its exit status. The context ends with the first
// interrupt.
func Run(run func(context.Context, Process) int) int {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
	if os.Getenv("GOGC") == "" {
		collectLate()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	// Writing to a pipe that nobody reads fails, instead of ending the process with a status of its own.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return run(ctx, Process{Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ()})
}
