package main

import (
	"os"
	"syscall"
)

// peakMemory is the peak memory of an ended process, in bytes.
func peakMemory(state *os.ProcessState) (int64, bool) {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return usage.Maxrss * 1024, true
}
