package hook

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

// lock waits until no other run changes the hooks of a repository, and keeps others out until release. One that puts a hook back while
// another replaces it could lose it otherwise. The lock is on the folder that all worktrees share; it leaves no file and ends with the
// process. Windows, and some network file systems, cannot lock a folder: there is none then.
func lock(ctx context.Context, repo Repository) (release func() error, err error) {
	folder := flock.New(repo.CommonDir, flock.SetFlag(os.O_RDONLY))
	if runtime.GOOS == "windows" {
		return folder.Close, nil
	}
	_, err = folder.TryLockContext(ctx, 10*time.Millisecond)
	for _, none := range []error{errors.ErrUnsupported, fs.ErrPermission, syscall.ENOLCK, syscall.EBADF} {
		if errors.Is(err, none) {
			return folder.Close, nil
		}
	}
	if err != nil {
		return nil, fileError("lock", repo.CommonDir, err)
	}
	return folder.Close, nil
}
