package githistory

import "syscall"

// dieWithParent makes the kernel end a process when this one ends, however it
// ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
