package restore

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/lock"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

// Loss says which entries of a log are gone although a guarded writer recorded them.
type Loss struct {
	// Log is the log's path, from the root of the work tree.
	Log string
	// Noted is the log as the guarded writers left it, and Index is the log in the index.
	Noted, Index *ledger.Ledger
	// Gone are the entries of Noted that are in no commit, not in the index and not in the work tree.
	Gone []ledger.Entry
	// Discarded is true if git removed them on request, as git checkout does.
	Discarded bool
	// Staged is true if the next commit changes the log: the entries are then missing in its history.
	Staged bool
}

// Losses lists the losses of all logs in the work tree. parents are the parents of the next commit. Policy, limits and clock are those of
// like.
func Losses(ctx context.Context, repo reconcile.Repository, parents []string, like Workspace) (out []Loss, err error) {
	place := repo.Where()
	root := lock.Root(place.CommonDir)
	dirs, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) || place.Top == "" {
		return nil, nil
	}
	if err != nil {
		return nil, &failure.Error{Message: "cannot list the notes on logs: " + err.Error(), Remedy: "make the git directory readable", Err: err}
	}
	for _, dir := range dirs {
		if !dir.IsDir() {
			continue
		}
		w := like
		w.Place, w.Kept = place, filepath.Join(root, dir.Name())
		isAboutLog := func(n Note) bool {
			return lock.Dir(place.CommonDir, filepath.Join(place.Top, filepath.FromSlash(n.Dir))) == w.Kept
		}
		n, err := readNote(w.noteFile(), isAboutLog)
		if err != nil {
			return nil, err
		}
		discarded, err := readNote(w.discardedFile(), isAboutLog)
		if err != nil {
			return nil, err
		}
		if w.Dir = n.Dir; n.Log == nil {
			w.Dir = discarded.Dir
		}
		loss, err := w.findLoss(ctx, repo, parents, n, discarded)
		if err != nil {
			return nil, err
		}
		if len(loss.Gone) > 0 {
			out = append(out, loss)
		}
	}
	return out, nil
}

// findLoss finds the entries of a note, and of the note on discarded entries, that are gone.
func (w *Workspace) findLoss(ctx context.Context, repo reconcile.Repository, parents []string, n, discarded Note) (out Loss, err error) {
	if n.Log == nil && discarded.Log == nil {
		return out, nil
	}
	file, readErr := w.Read()
	if discarded.Log == nil && bytes.HasPrefix(file, n.Log) {
		return out, nil // nothing is gone: the usual case needs no git
	}
	mark, err := MarkOf(ctx, repo, parents)
	if err != nil {
		return out, err
	}
	if discarded, err = w.dropStale(discarded, mark); err != nil {
		return out, err
	}
	if n, err = w.dropStale(n, mark); err != nil {
		return out, err
	}
	all := w.joinNotes(discarded, n)
	if all.Log == nil {
		return out, nil
	}
	commits, err := commitsBetween(w.Place, all.Mark, mark)
	if err != nil {
		return out, err
	}
	var head []byte
	if len(parents) > 0 {
		if head, _, err = githistory.ReadFile(ctx, repo, parents[0], w.Log(), w.Limits.FileSize()); err != nil {
			return out, err
		}
	}
	index, found, err := githistory.ReadFile(ctx, repo, history.Index, w.Log(), w.Limits.FileSize())
	if err = errors.Join(err, readErr); err != nil || !found {
		return out, err
	}
	out.Log, out.Noted, out.Index, out.Staged = w.Log(), w.readEntries(all.Log), w.readEntries(index), !bytes.Equal(head, index)
	if out.Gone, err = w.findUncommitted(ctx, repo, all, commits, file, index); err != nil {
		return out, err
	}
	known := w.readEntries(discarded.Log).Entries
	out.Discarded = w.wasDiscarded(n, file, head, index) || !slices.ContainsFunc(out.Gone, func(gone ledger.Entry) bool {
		return !slices.ContainsFunc(known, func(e ledger.Entry) bool { return e.Digest == gone.Digest })
	})
	return out, nil
}

func (w *Workspace) discardedFile() string { return filepath.Join(w.Kept, "discarded") }

// dropStale returns a note if its log can be read and git has only committed since; else it returns an empty note.
func (w *Workspace) dropStale(n Note, mark Mark) (Note, error) {
	if sound, _ := w.parse(n.Log); sound == nil {
		return Note{}, nil
	}
	commits, err := commitsBetween(w.Place, n.Mark, mark)
	if commits == nil {
		return Note{}, err
	}
	return n, nil
}

// joinNotes joins two notes, the older one first.
func (w *Workspace) joinNotes(older, newer Note) Note {
	switch {
	case older.Log == nil:
		return newer
	case newer.Log != nil && !w.readEntries(older.Log).HasAll(w.readEntries(newer.Log)):
		older.Log = w.joinLogs(older.Log, newer.Log)
	}
	return older
}

// wasDiscarded reports whether the file equals one of git's versions and lacks only the last entries of a note, as after git checkout. A
// writer that overwrote entries would have added an entry of its own.
func (w *Workspace) wasDiscarded(n Note, file []byte, versions ...[]byte) bool {
	log, _ := w.parse(file)
	if log == nil || n.Log == nil {
		return false
	}
	noted := w.readEntries(n.Log)
	return noted.Len() > log.Len() && noted.Extends(log.Ledger) && slices.ContainsFunc(versions, func(text []byte) bool {
		version, _ := w.parse(text)
		return version != nil && version.Len() == log.Len() && version.Extends(log.Ledger)
	})
}

// UpdateDiscarded updates the note on discarded entries: guarded writers recorded them, and git removed them on request. It returns the note, and
// those discarded entries that are gone now. If the last writer's note n has newly discarded entries, they move to this note. head is HEAD's log. The
// returned note has no log if no entry is gone.
func (w *Workspace) UpdateDiscarded(ctx context.Context, repo reconcile.Repository, n Note, mark Mark, head []byte) (known Note, gone []ledger.Entry, err error) {
	file, readErr := w.Read()
	if readErr != nil {
		return known, nil, nil //nolint:nilerr // something else is in the log's place: a caller that needs the file reads it again, and gets the error
	}
	if known, err = readNote(w.discardedFile(), func(n Note) bool { return n.Dir == w.Dir }); err != nil {
		return known, nil, err
	}
	if known, err = w.dropStale(known, mark); err != nil {
		return known, nil, err
	}
	if n, err = w.dropStale(n, mark); err != nil {
		return known, nil, err
	}
	index, _, unmerged := githistory.ReadFile(ctx, repo, history.Index, w.Log(), w.Limits.FileSize())
	if unmerged != nil {
		index = nil // the work tree's log was not checked out from the index
	}
	newlyDiscarded := w.wasDiscarded(n, file, head, index)
	if newlyDiscarded {
		known = w.joinNotes(known, n)
	}
	if known.Log == nil {
		return Note{}, nil, w.ForgetDiscarded()
	}
	commits, err := commitsBetween(w.Place, known.Mark, mark)
	if err == nil {
		gone, err = w.findUncommitted(ctx, repo, known, commits, file)
	}
	if err != nil || len(gone) == 0 {
		return Note{}, nil, errors.Join(err, w.ForgetDiscarded())
	}
	if newlyDiscarded {
		text, err := known.text()
		if err == nil {
			err = wholefile.Replace(w.discardedFile(), text, 0o600)
		}
		if err != nil {
			return known, gone, w.wrapNoteError(err)
		}
		return known, gone, w.WriteNote(mark)
	}
	return known, gone, nil
}

// ForgetDiscarded removes the note on discarded entries, which are in the log again or are not wanted.
func (w *Workspace) ForgetDiscarded() error {
	err := os.Remove(w.discardedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// WithDiscarded returns the noted log joined with the discarded entries.
func (w *Workspace) WithDiscarded(discarded Note, noted []byte) []byte {
	return w.joinNotes(discarded, Note{Log: noted}).Log
}
