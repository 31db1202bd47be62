package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// ours is the last line of a state lock that small-hook has made.
const ours = "command=small-hook\n"

// TakeState takes the lock under which the protocol's own program writes a workspace: a file that exists while somebody writes. That
// program does not wait for it; TakeState waits up to wait. A lock whose process has ended is removed if small-hook made it: the caller holds the
// workspace's own lock, so no other small-hook can be using this one. Otherwise the error names it. workspace is the directory with .small/. The
// error is a failure.Error, or the context's if ctx ended.
func TakeState(ctx context.Context, workspace string, wait time.Duration) (release func() error, err error) {
	dir := filepath.Join(workspace, ".small-cache")
	name := filepath.Join(dir, "state.lock")
	bounded, stop := context.WithTimeout(ctx, wait)
	defer stop()
	for {
		switch err := states.take(dir, name); {
		case err == nil:
			return func() error { return states.release(name) }, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, &failure.Error{
				Message: "cannot make the lock of the protocol's own program: " + wording.Printable(err.Error()),
				Remedy:  "make " + wording.ShellWord(dir) + " a writable directory", Err: err,
			}
		}
		by := states.holder(name)
		switch {
		case !by.ended:
		case by.isOurs:
			if err := removeState(name); err != nil {
				return nil, err
			}
			continue
		default:
			return nil, &failure.Error{
				Message: fmt.Sprintf("the workspace in %s is locked by process %d of the protocol's own program since %s, which does not run here any more",
					wording.Printable(workspace), by.pid, by.since),
				Remedy: "if it does not run on another machine either: `rm -f -- " + wording.ShellWord(name) + "`, then run the same command again",
			}
		}
		select {
		case <-time.After(again):
		case <-bounded.Done():
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			f := &failure.Error{
				Message: fmt.Sprintf("the workspace in %s is locked by process %d of %s since %s (%s); waited %s",
					wording.Printable(workspace), by.pid, by.program(), by.since, wording.Printable(name), wait),
				Remedy: "run the same command again, once that one has ended; --wait 5m waits longer",
			}
			if by.pid == 0 {
				f.Message = fmt.Sprintf("the workspace in %s is locked, and %s does not say by whom; waited %s", wording.Printable(workspace), wording.Printable(name), wait)
				f.Remedy = "if no command of the protocol's own program is at work there: `rm -f -- " + wording.ShellWord(name) + "`, then run the same command again"
			}
			return nil, f
		}
	}
}

// makeState makes the lock, with the text that the protocol's own program writes. It is made whole, except where the file system has no hard links: see
// createState. The directory is never removed again, because that program may be about to use it.
func makeState(dir, name string) error {
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		// A link may be from the repository: nothing is written through it.
		var info fs.FileInfo
		if info, err = os.Lstat(dir); err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
	}
	if err != nil {
		return err
	}
	// The .gitignore covers the whole directory: a lock left by a killed process must not be committed.
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o644); err != nil {
			return err
		}
	}
	text := fmt.Appendf(nil, "pid=%d\ncreated_at=%s\n%s", os.Getpid(), time.Now().UTC().Format(time.RFC3339Nano), ours)
	made := filepath.Join(dir, ".state.lock.small-hook")
	if err := wholefile.Replace(made, text, 0o600); err != nil { // not through a link
		return err
	}
	err = os.Link(made, name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = createState(name, text)
	}
	return errors.Join(err, os.Remove(made))
}

// createState makes the lock in two steps, on a file system without hard links. A process killed in between leaves an empty lock, which
// TakeState names.
func createState(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

func removeState(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &failure.Error{Message: "cannot remove the lock: " + wording.Printable(err.Error()), Remedy: "`rm -f -- " + wording.ShellWord(name) + "`", Err: err}
	}
	return nil
}

// ownStates are the state locks that this process holds.
type ownStates struct {
	mutex sync.Mutex
	names map[string]bool
}

var states = &ownStates{names: map[string]bool{}}

func (o *ownStates) take(dir, name string) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	err := makeState(dir, name)
	if err == nil {
		o.names[name] = true
	}
	return err
}

func (o *ownStates) release(name string) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.names, name)
	return removeState(name)
}

// stateHolder is what a state lock says about its holder. pid is 0 if it does not say. ended is true if no process with that id can be seen here; it may
// still run on another machine, or in another container. isOurs is true if a small-hook has made the lock.
type stateHolder struct {
	pid           int
	since         string
	ended, isOurs bool
}

// holder reads who holds a lock. If the lock names the id of this process, which does not hold it, an earlier process had that id: in containers, ids soon
// return.
func (o *ownStates) holder(name string) (by stateHolder) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	text, err := wholefile.Start(name, 4096)
	if err != nil {
		return by
	}
	for line := range strings.Lines(string(text)) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), "="); key {
		case "pid":
			by.pid, _ = strconv.Atoi(value) //nolint:errcheck // 0: no process is named
		case "created_at":
			by.since = wording.Printable(wording.Clip(value))
		}
	}
	by.isOurs = strings.HasSuffix(string(text), ours)
	by.ended = by.pid != 0 && (gone(by.pid) || by.pid == os.Getpid() && !o.names[name])
	return by
}

// program names the program of the holder.
func (by stateHolder) program() string {
	if by.isOurs {
		return "small-hook"
	}
	return "the protocol's own program"
}

// gone reports whether no process that can be seen here has this pid.
func gone(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return !errors.Is(err, fs.ErrPermission) // on Windows, a process of somebody else
	}
	err = process.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
