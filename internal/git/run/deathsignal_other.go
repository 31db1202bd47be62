//go:build !linux

package gitcmd

import "syscall"

// dieWithParent adds nothing here: when this process ends, a git that reads or prints sees the end of its input or output.
func dieWithParent() *syscall.SysProcAttr { return nil }
