package gitcmd

import "syscall"

// dieWithParent makes the kernel end a process when this one ends, in whatever way. On SIGTERM git removes its locks, and ends its
// children.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
