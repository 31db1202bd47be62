package gitcmd

import "syscall"

// dieWithParent makes the kernel end a process when this one ends, however it ends. git removes its locks on SIGTERM, and ends the
// processes that it has started.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
