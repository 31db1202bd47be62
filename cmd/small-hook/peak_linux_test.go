package main

import (
	"os"
	"syscall"
)

// peakMemory is the most memory that an ended process held, in bytes.
func peakMemory(state *os.ProcessState) (int64, bool) {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return usage.Maxrss * 1024, true
}
