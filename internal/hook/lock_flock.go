//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package hook

import (
	"errors"
	"os"
	"syscall"
)

// exclusive waits for the lock of an open directory. It ends when that is closed, or the process ends. A file system without locks,
// as some that are reached over a network, is no error.
func exclusive(dir *os.File) error {
	for {
		err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EBADF):
			return nil
		}
		return err
	}
}
