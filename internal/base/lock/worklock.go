package lock

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// Variable passes the locks held by a process and its ancestors, for any workspaces, to the commands that it runs: their tokens, joined by
// commas. A command inside a guarded one does not wait for that lock: it takes a lock one level further in, so that two commands inside the same
// guarded one still wait for each other.
// A token counts only while its lock is held, so a stale variable means nothing.
const Variable = "SMALL_HOOK_LOCK"

// DefaultWait is how long the commands wait for a lock that somebody else holds, unless the user says otherwise.
const DefaultWait = 30 * time.Second

// again is the time between two tries.
const again = 10 * time.Millisecond

// Request says which lock is wanted, and by whom.
type Request struct {
	// CommonDir is the git directory that all work trees share, Workspace the real path of the directory with .small/, or
	// of the root of the work tree for configured logs.
	CommonDir, Workspace string
	// Command describes the holder to those who wait.
	Command string
	// Wait is how long to wait at most.
	Wait    time.Duration
	Environ []string
	Now     time.Time
}

// Held is a lock that this process holds.
type Held struct {
	// Dir is the directory for data about the workspace.
	Dir    string
	lock   *flock.Flock
	holder string
	token  string
}

// holder is what the holder of a lock says about itself.
type holder struct {
	Token   string    `json:"token"`
	PID     int       `json:"pid"`
	Command string    `json:"command"`
	Since   time.Time `json:"since"`
}

// Root returns the directory, in the common git directory, in which each workspace has a directory of its own.
func Root(commonDir string) string { return filepath.Join(commonDir, "small-gate") }

// Dir returns the directory for data about a workspace: see Request.
func Dir(commonDir, workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(Root(commonDir), hex.EncodeToString(sum[:8]))
}

// Take waits for the lock, and cleans up after killed holders. The error has a failure.Error in its chain, or is that of a context that ended.
func Take(ctx context.Context, req Request) (*Held, error) {
	h := &Held{Dir: Dir(req.CommonDir, req.Workspace)}
	if err := os.MkdirAll(h.Dir, 0o700); err != nil {
		return nil, cannot(req, err)
	}
	above := given(req.Environ)
	inside := 0
	for ; ; inside++ {
		h.lock, h.holder = h.level(inside)
		free, err := h.noAncestorHolds(above)
		if err != nil {
			return nil, cannot(req, err)
		}
		if free {
			break
		}
	}
	if err := h.wait(ctx, req); err != nil {
		return nil, err
	}
	err := h.sweep(inside)
	if err == nil {
		err = h.sign(req)
	}
	if err != nil {
		return nil, errors.Join(cannot(req, err), h.lock.Unlock())
	}
	return h, nil
}

// sweep removes what killed holders have left: unfinished files, and the holder files of inner locks.
func (h *Held) sweep(inside int) error {
	err := wholefile.Sweep(h.Dir)
	for err == nil {
		inside++
		lock, name := h.level(inside)
		if _, missing := os.Lstat(lock.Path()); missing != nil {
			break
		}
		var free bool
		if free, err = lock.TryLock(); free {
			err = errors.Join(os.RemoveAll(name), lock.Unlock())
		}
	}
	return err
}

// wait takes the lock.
func (h *Held) wait(ctx context.Context, req Request) error {
	bounded, stop := context.WithTimeout(ctx, req.Wait)
	defer stop()
	// Even without a wait there is one try.
	locked, err := h.lock.TryLock()
	if err == nil && !locked {
		_, err = h.lock.TryLockContext(bounded, again)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return &failure.Error{
			Message: fmt.Sprintf("the workspace in %s is locked by %s; waited %s", wording.Printable(req.Workspace), h.who(req.Now.Add(req.Wait)), req.Wait),
			Remedy:  "run the same command again, once that one has ended; --wait 5m waits longer",
			Err:     err,
		}
	}
	return cannot(req, err)
}

// who describes the lock's holder.
func (h *Held) who(now time.Time) string {
	by, err := read(h.holder)
	if err != nil || by.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d (%s) since %s, %s ago", by.PID, wording.Printable(wording.Clip(by.Command)),
		by.Since.UTC().Format(time.RFC3339), now.Sub(by.Since).Round(time.Second))
}

// sign tells others who holds the lock, and makes the token for commands that run under it.
func (h *Held) sign(req Request) error {
	by := holder{Token: rand.Text(), PID: os.Getpid(), Command: secret.Mask(req.Command), Since: req.Now}
	text, err := json.Marshal(by)
	if err != nil {
		return err
	}
	h.token = by.Token
	return wholefile.Replace(h.holder, text, 0o600)
}

// noAncestorHolds reports whether no ancestor of this process holds the lock. Another process may.
func (h *Held) noAncestorHolds(above []string) (bool, error) {
	if len(above) == 0 {
		return true, nil
	}
	free, err := h.lock.TryRLock() // shared, so that two processes that check at once both get it
	if err != nil || free {
		return true, errors.Join(err, h.lock.Unlock())
	}
	by, err := read(h.holder)
	return by.Token == "" || !slices.Contains(above, by.Token), err
}

// level returns the lock for commands nested in that many guarded ones, and the file that names its holder.
func (h *Held) level(inside int) (lock *flock.Flock, name string) {
	name = filepath.Join(h.Dir, fmt.Sprintf("lock-%d", inside))
	return flock.New(name, flock.SetPermissions(0o600)), name + ".holder"
}

// Environ returns an environment for commands that run under the lock, with this lock added to those passed on.
func (h *Held) Environ(environ []string) []string {
	return append(environ[:len(environ):len(environ)], Variable+"="+strings.Join(append(given(environ), h.token), ","))
}

// Release lets the next one have the lock.
func (h *Held) Release() error { return errors.Join(os.RemoveAll(h.holder), h.lock.Unlock()) }

func given(environ []string) []string {
	value := program.Getenv(environ, Variable)
	if value == "" {
		return nil
	}
	return strings.Split(value, ",")
}

// read reads who holds a lock; the zero holder if nobody has signed yet, or if the file cannot be understood.
func read(name string) (holder, error) {
	var by holder
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return by, nil
	}
	if err == nil && json.Unmarshal(text, &by) == nil {
		return by, nil
	}
	return holder{}, err
}

func cannot(req Request, err error) error {
	return &failure.Error{
		Message: fmt.Sprintf("cannot lock the workspace in %s: %v", wording.Printable(req.Workspace), err),
		Remedy:  "make " + wording.ShellWord(req.CommonDir) + " writable, on a file system that can lock files",
		Err:     err,
	}
}
