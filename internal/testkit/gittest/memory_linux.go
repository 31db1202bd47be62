package gittest

import "syscall"

// memory is a file system in memory, on which git is faster.
const memory = "/dev/shm"

// What statfs(2) reports for a file system in memory, and for one without execution of programs; and the access(2) mode for writing.
const (
	tmpfs  = 0x01021994
	noExec = 0x8
	write  = 0x2
)

// roomInMemory reports whether programs can run there, and whether it is large and at least half empty.
func roomInMemory() bool {
	var s syscall.Statfs_t
	if err := syscall.Statfs(memory, &s); err != nil || s.Type != tmpfs || s.Flags&noExec != 0 {
		return false
	}
	return syscall.Access(memory, write) == nil && s.Bavail > s.Blocks/2 && s.Bavail*uint64(s.Bsize) > 2<<30
}
