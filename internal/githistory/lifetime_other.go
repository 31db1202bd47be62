//go:build !linux

package githistory

import "syscall"

// dieWithParent adds nothing here: when this process ends, a reading git sees
// the end of its input or output and ends too.
func dieWithParent() *syscall.SysProcAttr { return nil }
