//go:build unix

package githistory_test

import (
	"os"
	"syscall"
)

func mkfifo(names ...string) error {
	for _, name := range names {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// unblock frees a reader that waits for a writer of the pipe.
func unblock(name string) {
	if f, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		f.Close() //nolint:errcheck // nothing was written
	}
}
