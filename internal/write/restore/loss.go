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
	// Noted is the log as the last guarded writer left it, and Index the index's.
	Noted, Index *ledger.Ledger
	// Gone are the entries of Noted that are in no commit, not in the index and not in the work tree.
	Gone []ledger.Entry
	// Discarded is true if git has taken them away on request, as git checkout does.
	Discarded bool
	// Sealed is true if the next commit changes the log, so that the entries would be missing from then on.
	Sealed bool
}

// Losses lists the losses of all logs in the work tree. parents are the parents of the next commit; like is a Workspace whose policy, limits
// and clock count.
func Losses(ctx context.Context, repo reconcile.Repository, parents []string, like Workspace) (out []Loss, err error) {
	place := repo.Where()
	root := lock.Root(place.CommonDir)
	dirs, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) || place.Top == "" {
		return nil, nil
	}
	if err != nil {
		return nil, &failure.Error{Message: "cannot look for notes on logs: " + err.Error(), Remedy: "make the git directory readable", Err: err}
	}
	for _, dir := range dirs {
		if !dir.IsDir() {
			continue
		}
		w := like
		w.Place, w.Kept = place, filepath.Join(root, dir.Name())
		here := func(n Note) bool {
			return lock.Dir(place.CommonDir, filepath.Join(place.Top, filepath.FromSlash(n.Dir))) == w.Kept
		}
		n, err := readNote(w.noteFile(), here)
		if err != nil {
			return nil, err
		}
		discarded, err := readNote(w.discardedFile(), here)
		if err != nil {
			return nil, err
		}
		if w.Dir = n.Dir; n.Log == nil {
			w.Dir = discarded.Dir
		}
		loss, err := w.loss(ctx, repo, parents, n, discarded)
		if err != nil {
			return nil, err
		}
		if len(loss.Gone) > 0 {
			out = append(out, loss)
		}
	}
	return out, nil
}

// loss finds out what is gone of the log since a note, and what was discarded.
func (w *Workspace) loss(ctx context.Context, repo reconcile.Repository, parents []string, n, discarded Note) (out Loss, err error) {
	if n.Log == nil && discarded.Log == nil {
		return out, nil
	}
	file, unread := w.Read()
	if discarded.Log == nil && bytes.HasPrefix(file, n.Log) {
		return out, nil // nothing is gone: the usual case, without asking git
	}
	mark, err := MarkOf(ctx, repo, parents)
	if err != nil {
		return out, err
	}
	if discarded, err = w.current(discarded, mark); err != nil {
		return out, err
	}
	if n, err = w.current(n, mark); err != nil {
		return out, err
	}
	all := w.with(discarded, n)
	if all.Log == nil {
		return out, nil
	}
	commits, err := since(w.Place, all.Mark, mark)
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
	if err = errors.Join(err, unread); err != nil || !found {
		return out, err
	}
	out.Log, out.Noted, out.Index, out.Sealed = w.Log(), w.entriesOf(all.Log), w.entriesOf(index), !bytes.Equal(head, index)
	if out.Gone, err = w.uncommitted(ctx, repo, all, commits, file, index); err != nil {
		return out, err
	}
	known := w.entriesOf(discarded.Log).Entries
	out.Discarded = w.takenBack(n, file, head, index) || !slices.ContainsFunc(out.Gone, func(gone ledger.Entry) bool {
		return !slices.ContainsFunc(known, func(e ledger.Entry) bool { return e.Digest == gone.Digest })
	})
	return out, nil
}

func (w *Workspace) discardedFile() string { return filepath.Join(w.Kept, "discarded") }

// current is a note if it still counts; else it has no log.
func (w *Workspace) current(n Note, mark Mark) (Note, error) {
	if sound, _ := w.parse(n.Log); sound == nil {
		return Note{}, nil
	}
	commits, err := since(w.Place, n.Mark, mark)
	if commits == nil {
		return Note{}, err
	}
	return n, nil
}

// with joins two notes, the older one first.
func (w *Workspace) with(older, newer Note) Note {
	switch {
	case older.Log == nil:
		return newer
	case newer.Log != nil && !w.entriesOf(older.Log).HasAll(w.entriesOf(newer.Log)):
		older.Log = w.join(older.Log, newer.Log)
	}
	return older
}

// takenBack reports whether the file is one of the versions that git has, and lacks only the last entries of a note: so git checkout leaves it.
// A writer that has lost entries has added one of its own.
func (w *Workspace) takenBack(n Note, file []byte, versions ...[]byte) bool {
	log, _ := w.parse(file)
	if log == nil || n.Log == nil {
		return false
	}
	noted := w.entriesOf(n.Log)
	return noted.Len() > log.Len() && noted.Extends(log.Ledger) && slices.ContainsFunc(versions, func(text []byte) bool {
		version, _ := w.parse(text)
		return version != nil && version.Len() == log.Len() && version.Extends(log.Ledger)
	})
}

// Discarded is the note on entries that guarded writers have recorded and git has taken away on request since, n being the last writer's
// note and head the log of HEAD; and those entries. What n adds to it moves there from n. It has no log if nothing is missing.
func (w *Workspace) Discarded(ctx context.Context, repo reconcile.Repository, n Note, mark Mark, head []byte) (known Note, gone []ledger.Entry, err error) {
	file, unread := w.Read()
	if unread != nil {
		return known, nil, nil //nolint:nilerr // something else is in the log's place: whoever needs the file reads it again, and says so
	}
	if known, err = readNote(w.discardedFile(), func(n Note) bool { return n.Dir == w.Dir }); err != nil {
		return known, nil, err
	}
	if known, err = w.current(known, mark); err != nil {
		return known, nil, err
	}
	if n, err = w.current(n, mark); err != nil {
		return known, nil, err
	}
	index, _, unmerged := githistory.ReadFile(ctx, repo, history.Index, w.Log(), w.Limits.FileSize())
	if unmerged != nil {
		index = nil // the log in the work tree is not from there
	}
	fresh := w.takenBack(n, file, head, index)
	if fresh {
		known = w.with(known, n)
	}
	if known.Log == nil {
		return Note{}, nil, w.ForgetDiscarded()
	}
	commits, err := since(w.Place, known.Mark, mark)
	if err == nil {
		gone, err = w.uncommitted(ctx, repo, known, commits, file)
	}
	if err != nil || len(gone) == 0 {
		return Note{}, nil, errors.Join(err, w.ForgetDiscarded())
	}
	if fresh {
		text, err := known.text()
		if err == nil {
			err = wholefile.Replace(w.discardedFile(), text, 0o600)
		}
		if err != nil {
			return known, gone, w.notNoted(err)
		}
		return known, gone, w.Note(mark)
	}
	return known, gone, nil
}

// ForgetDiscarded forgets what was discarded: it is in the log again, or is not wanted.
func (w *Workspace) ForgetDiscarded() error {
	err := os.Remove(w.discardedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// WithDiscarded is what was noted of a log together with what was discarded.
func (w *Workspace) WithDiscarded(discarded Note, noted []byte) []byte {
	return w.with(discarded, Note{Log: noted}).Log
}
