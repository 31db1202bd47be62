// Package lock has the locks of the program: of a file or a directory, as the operating system keeps them; of a workspace, one guarded writer at a time,
// advisory, in the common git directory, which ends with its holder in any case; and the lock file of the protocol's own program, which does not.
package lock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// ErrTaken is the error of a file or directory that somebody else has locked.
var ErrTaken = errors.New("another process is at work there")

// File locks a file, which it makes if missing, without waiting. The lock ends with the process.
func File(name string) (release func() error, err error) {
	lock := flock.New(name)
	locked, err := lock.TryLock()
	if err == nil && !locked {
		err = ErrTaken
	}
	return lock.Unlock, err
}

// Directory locks a directory itself; wait says whether to wait until it is free. The lock leaves no file and ends with the process.
// Windows, and some network file systems, cannot lock a directory: then nobody is kept out.
func Directory(ctx context.Context, dir string, wait bool) (release func() error, err error) {
	lock := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	if runtime.GOOS == "windows" {
		return lock.Close, nil
	}
	locked, err := lock.TryLock()
	if err == nil && !locked && wait {
		locked, err = lock.TryLockContext(ctx, 10*time.Millisecond)
	}
	for _, none := range []error{errors.ErrUnsupported, fs.ErrPermission, syscall.ENOLCK, syscall.EBADF} {
		if errors.Is(err, none) {
			return lock.Close, nil
		}
	}
	if err == nil && !locked {
		err = ErrTaken
	}
	return lock.Close, err
}
