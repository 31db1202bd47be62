package reconcile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wholefile"
	"github.com/small-gate/small-gate/internal/wording"
)

// Workspace is a workspace of a work tree whose log this process may write: it holds the lock.
type Workspace struct {
	Place githistory.Place
	// Dir is its directory, slash-separated, from the root of the work tree.
	Dir string
	// Kept is the directory for the files that are kept about it, in the common git directory.
	Kept string
	// Policy is the trusted configuration: its waivers and its baseline allow edits.
	Policy *policy.Policy
	Limits small.Limits
	Now    time.Time
}

// Log is the log's path, from the root of the work tree.
func (w *Workspace) Log() string { return small.Progress.Path(w.Dir) }

// Read reads the log; nil if there is none.
func (w *Workspace) Read() ([]byte, error) { return readFile(w.Place.Top, w.Log()) }

// write makes a text the content of a file of the workspace, in one step.
func (w *Workspace) write(path string, text []byte) error {
	file := filepath.Join(w.Place.Top, filepath.FromSlash(path))
	err := os.MkdirAll(filepath.Dir(file), 0o777)
	if err == nil {
		err = wholefile.WriteVia(w.Kept, file, text)
	}
	if err != nil {
		return &failure.Error{Message: fmt.Sprintf("cannot write %s: %v", path, err), Remedy: "make the file writable, then run the command again", Err: err}
	}
	return nil
}

// Accepts reports whether the step from a log to another is allowed.
func (w *Workspace) Accepts(parent, child *ledger.Ledger) bool {
	return read.NewLogComparer(w.Policy, w.Log(), w.Now).Accepts(parent, child)
}

// Restored is what PutBack has done.
type Restored struct {
	splice.PutBack
	// Log is its path, from the root of the work tree.
	Log string
	// File is where the file is kept that was in the log's place; empty if there was none.
	File string
	// Discarded is how many new entries were dropped.
	Discarded int
	// Plan is the path of the plan, if that has tasks again that entries name which were gone; empty if it has not changed.
	Plan string
	// Missing are the paths of the workspace's other files that were gone and are put back.
	Missing []string
	// Staged is true if it was staged, and Next what to type next, empty if nothing is left to commit.
	Staged bool
	Next   string
}

// Done reports whether there was something to restore.
func (r Restored) Done() bool { return r.Text != nil || r.Staged }

// Restore puts the entries of an old log back: see splice.PutBackOf. It keeps the file that was there. A Restored without Text means that there
// was nothing to put back.
func (w *Workspace) Restore(old []byte, accepts func(parent, child *ledger.Ledger) bool) (Restored, error) {
	out, file, err := w.lost(old, accepts)
	if err != nil || out.Text == nil {
		return out, err
	}
	return out, w.put(&out, file)
}

// lost finds out what Restore puts back, and the file that is there.
func (w *Workspace) lost(old []byte, accepts func(parent, child *ledger.Ledger) bool) (out Restored, file []byte, err error) {
	out.Log = w.Log()
	if file, err = w.Read(); err != nil {
		return out, nil, err
	}
	if out.PutBack, err = splice.PutBackOf(old, file, accepts, w.Now, w.Limits); err != nil {
		err = &failure.Error{
			Message: fmt.Sprintf("%s cannot be put back: the old log cannot be read: %v", w.Log(), err),
			Remedy:  "name a commit whose log is a sound one with --source; `git log -- " + wording.TopPath(w.Log()) + "` lists the commits that changed it",
		}
	}
	return out, file, err
}

// replaced is an old log in the place of the file that is there, whatever is new in that.
func (w *Workspace) replaced(old []byte) (Restored, []byte, error) {
	out, file, err := w.lost(old, func(_, _ *ledger.Ledger) bool { return false })
	if file != nil && bytes.Equal(file, old) {
		return Restored{Log: w.Log()}, file, err
	}
	out.Text, out.Discarded, out.New, out.Moved, out.Masked = old, out.New, 0, nil, 0
	return out, file, err
}

// put writes the text that is put back, and keeps the file that was there, if any.
func (w *Workspace) put(out *Restored, file []byte) (err error) {
	if file != nil {
		if out.File, err = w.keep(file); err != nil {
			return err
		}
	}
	return w.write(w.Log(), out.Text)
}

// keep keeps a file that is about to be replaced.
func (w *Workspace) keep(content []byte) (string, error) {
	sum := sha256.Sum256(content) // what is kept again, after a kill, is kept once
	name := filepath.Join(w.Kept, "progress-"+hex.EncodeToString(sum[:8])+".small.yml")
	if err := wholefile.Replace(name, content, 0o600); err != nil {
		return "", &failure.Error{
			Message: fmt.Sprintf("cannot keep the present %s, so it was left as it is: %v", w.Log(), err),
			Remedy:  "make room in the git directory, then run the command again", Err: err,
		}
	}
	return name, nil
}

// moveLink keeps a symbolic link that is in the log's place, and returns where; empty if there is none.
func (w *Workspace) moveLink() (string, error) {
	file := filepath.Join(w.Place.Top, filepath.FromSlash(w.Log()))
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().Type() != fs.ModeSymlink {
		return "", nil
	}
	var target string
	if err == nil {
		target, err = os.Readlink(file)
	}
	if err != nil {
		return "", &failure.Error{Message: "cannot look at " + w.Log() + ": " + err.Error(), Err: err}
	}
	kept, err := w.keep([]byte("a symbolic link to " + target + "\n"))
	if err == nil {
		err = os.Remove(file)
	}
	return kept, err
}
