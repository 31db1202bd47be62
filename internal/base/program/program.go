// Package program has the common parts of both programs: a process's arguments, streams and environment, and how it starts.
package program

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
)

// Process is what a program gets from the operating system.
type Process struct {
	// Args begin with the program's name.
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string
}

// Getenv looks up a variable like os.Getenv.
func (p Process) Getenv(key string) string { return Getenv(p.Environ, key) }

// Variables returns the environment by name. If a name is set several times, the last value counts.
func (p Process) Variables() map[string]string {
	all := make(map[string]string, len(p.Environ))
	for _, entry := range p.Environ {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			all[name] = value
		}
	}
	return all
}

// Getenv looks up a variable of an environment; empty if it is not set.
func Getenv(environ []string, key string) string { return Environ(environ).Get(key) }

// Environ is an environment, each variable as KEY=VALUE.
type Environ []string

// Lookup returns the value of a variable, and whether it is set. If it is set several times, the last value counts.
func (e Environ) Lookup(key string) (value string, set bool) {
	for _, entry := range slices.Backward(e) {
		if name, value, ok := strings.Cut(entry, "="); ok && name == key {
			return value, true
		}
	}
	return "", false
}

// Get returns the value of a variable; empty if it is not set.
func (e Environ) Get(key string) string {
	value, _ := e.Lookup(key)
	return value
}

// softMemory is the memory, in bytes, above which a process collects garbage more often; by default it could take twice what it needs.
const softMemory = 224 << 20

// collectLater makes the first garbage collection happen at 16 MB instead of 4: nearly all processes end before that. Afterwards memory
// grows as usual.
func collectLater() {
	const usual = 100 // percent, with which the runtime begins at 4 MB
	debug.SetGCPercent(4 * usual)
	garbage := new(Process) // its cleanup runs after the first collection
	runtime.AddCleanup(garbage, func(percent int) { debug.SetGCPercent(percent) }, usual)
}

// giveWay raises the limit to nine eighths of the memory in use as soon as that is more than the limit: otherwise the runtime would spend
// half of its time on collections that free nothing.
func giveWay(limit int64) {
	garbage := new(Process) // its cleanup runs after the next collection
	runtime.AddCleanup(garbage, func(limit int64) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		if used := int64(sample[0].Value.Uint64()); used+used/8 > limit {
			limit = used + used/8
			debug.SetMemoryLimit(limit)
		}
		giveWay(limit)
	}, limit)
}

// Run calls a program with the operating system's input, and returns its exit status. The context ends with the first interrupt.
func Run(run func(context.Context, Process) int) int {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
		giveWay(softMemory)
	}
	if os.Getenv("GOGC") == "" {
		collectLater()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	// Writing to a pipe that nobody reads then fails, instead of ending the process with another status.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return run(ctx, Process{Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ()})
}
