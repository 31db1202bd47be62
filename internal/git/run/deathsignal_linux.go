package gitcmd

import "syscall"

// dieWithParent makes the kernel send SIGTERM to a process when this one ends, in whatever way. git then removes its locks and ends its children.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
