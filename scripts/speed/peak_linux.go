package main

import (
	"os"
	"syscall"
)

// peakMemory is the peak memory of an ended process or its children, in bytes. It is never less than this process's memory, which the child
// shares until it executes another program: so nothing here keeps a large log.
func peakMemory(state *os.ProcessState) int64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss * 1024
	}
	return 0
}
