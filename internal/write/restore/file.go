package restore

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/write/reconcile"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// RestoreFile restores and stages a log that is one file and never changes, from the source commit. Without a source it takes the file from
// HEAD, else from the commits being merged. The file that was in its place is kept.
func (w *Workspace) RestoreFile(ctx context.Context, repo reconcile.Repository, source string, environ []string) (out Restored, err error) {
	out.Log = w.Log()
	r, err := w.begin(repo, environ)
	if err != nil {
		return out, err
	}
	id, committed, err := r.findCommittedFile(ctx, source)
	if err != nil || committed.Mode == "" {
		return out, err
	}
	same, err := r.isInIndexAndTree(ctx, committed)
	if err != nil || same {
		return out, err
	}
	link, err := w.setLinkAside()
	if err != nil {
		return out, err
	}
	out.File = link
	if there, readErr := w.Read(); readErr != nil {
		return out, readErr
	} else if there != nil {
		if out.File, err = w.workTree().Keep(w.Log(), there); err != nil {
			return out, err
		}
		out.Lost = new(ledger.Form).LogOfFile("", "", "", nil).Entries // the file is the only entry
	}
	if _, err = r.git.Run(ctx, "restore", "--source="+id, "--staged", "--worktree", "--ignore-skip-worktree-bits", "--", w.Log()); err != nil {
		return out, err
	}
	out.Text, out.Staged = []byte{}, true
	err = r.stageAndContinue(ctx, &out)
	return out, err
}

// findCommittedFile finds the first of the source commits that has the file, and the file there.
func (r *restoring) findCommittedFile(ctx context.Context, source string) (id string, f history.File, err error) {
	commits, err := SourceCommits(ctx, r.repo, source)
	for _, id = range commits {
		if f, err = findFile(ctx, r.repo, id, r.Log()); err != nil || f.Mode != "" {
			break
		}
	}
	return id, f, err
}

// SourceCommits lists the commits to restore from: the source or, if that is empty, HEAD and the commits being merged.
func SourceCommits(ctx context.Context, repo reconcile.Repository, source string) ([]string, error) {
	if source != "" {
		id, err := repo.Resolve(ctx, source)
		return []string{id}, err
	}
	head, err := repo.Head(ctx)
	if err != nil || head == "" {
		return nil, err
	}
	merged, err := workgit.MergeHeads(ctx, repo)
	return append([]string{head}, merged...), err
}

// isInIndexAndTree reports whether the index and the work tree have the log's file exactly as a commit has it; committed is the commit's file.
func (r *restoring) isInIndexAndTree(ctx context.Context, committed history.File) (bool, error) {
	staged, err := findFile(ctx, r.repo, history.Index, r.Log())
	if err != nil || staged != committed {
		return false, err
	}
	// git counts a file that a sparse checkout leaves out as unchanged.
	if there, err := state.Exists(filepath.Join(r.Place.Top, filepath.FromSlash(r.Log()))); err != nil || !there {
		return false, err
	}
	changed, err := r.git.Run(ctx, "diff-files", "--name-only", "--no-ext-diff", "--", r.Log())
	return len(bytes.TrimSpace(changed)) == 0, err
}

// AppendEntry adds a line or block to a configured log, and creates the log if there is none. It stages nothing.
func (w *Workspace) AppendEntry(entry string) error {
	data, err := w.Read()
	if err != nil {
		return err
	}
	text, err := w.kind().Append(w.Log(), data, entry, w.Limits)
	if err != nil {
		return err
	}
	return w.workTree().Write(w.Log(), text)
}

// CommittedText returns the text of the log in a commit as git would check it out; nil if the commit has no such file.
func (w *Workspace) CommittedText(ctx context.Context, repo reconcile.Repository, commit string, environ []string) ([]byte, error) {
	git, err := workgit.Open(w.Place, environ)
	if err != nil {
		return nil, err
	}
	f, err := findFile(ctx, repo, commit, w.Log())
	if err != nil || !f.Regular() {
		return nil, err
	}
	return git.CheckedOut(ctx, w.Log(), f.Object)
}

// OnlyCommitted reports whether git has at most committed between two marks, and not changed the work tree otherwise.
func OnlyCommitted(place githistory.Place, from, to Mark) (bool, error) {
	commits, err := commitsBetween(place, from, to)
	return commits != nil, err
}

// RestoreFormer puts old back at the log's path: lost lines or items, a file or, if mode is that of a symbolic link, a link whose target is old. If it
// cannot, the error names a copy of old.
func (w *Workspace) RestoreFormer(old []byte, mode fs.FileMode) (out Restored, err error) {
	defer func() {
		if err == nil {
			return
		}
		f := failure.Of(err)
		message, remedy := f.Message, strings.Replace(f.Remedy, again, wording.Commands("small-hook restore "+wording.TopPath(w.Log())), 1)
		if kept, keepErr := w.workTree().Keep(w.Log(), old); keepErr == nil {
			message += "; a copy of what was there before: " + wording.Printable(kept)
		}
		err = &failure.Error{Message: message, Remedy: remedy, Err: err}
	}()
	link, err := w.setLinkAside()
	if err != nil {
		return out, err
	}
	if mode&fs.ModeSymlink != 0 {
		file, readErr := w.Read()
		if readErr == nil && file != nil {
			out.File, readErr = w.workTree().Keep(w.Log(), file)
		}
		name := filepath.Join(w.Place.Top, filepath.FromSlash(w.Log()))
		if out.Log, out.Text = w.Log(), old; file != nil && readErr == nil {
			readErr = os.Remove(name)
		}
		if readErr == nil {
			readErr = os.Symlink(string(old), name)
		}
		out.File = cmp.Or(out.File, link)
		return out, readErr
	}
	if out, err = w.Restore(old, w.Accepts); err == nil && out.Text != nil {
		err = os.Chmod(filepath.Join(w.Place.Top, filepath.FromSlash(w.Log())), mode.Perm())
	}
	out.File = cmp.Or(out.File, link)
	return out, err
}
