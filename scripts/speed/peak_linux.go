package main

import (
	"os"
	"syscall"
)

// peakMemory is the most memory that an ended process held, or one that it waited for, in bytes. It is never less than what this
// process holds, whose memory the child shares until it becomes another program: so nothing here holds a large log.
func peakMemory(state *os.ProcessState) int64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss * 1024
	}
	return 0
}
