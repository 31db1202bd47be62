package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wholefile"
	"github.com/small-gate/small-gate/internal/wording"
)

// change is one file to write and stage.
type change struct {
	path, mode string
	// content is what is staged, disk what is written to the work tree, there what is there now (nil for nothing).
	content, disk, there []byte
	blob                 string
	// keep is true if only the work tree may have what is there now: it is kept as a blob.
	keep bool
	// movedTo is the path at which the log is written instead: this file is removed.
	movedTo string
}

// readFile reads a file of a work tree; nil if there is none. Symbolic links on the way are refused: what they lead to is not in
// the repository.
func readFile(top, path string) ([]byte, error) {
	at := top
	for _, name := range strings.Split(path, "/") {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, &failure.Error{Message: "cannot look at " + path + ": " + err.Error(), Err: err}
		}
		last := at == filepath.Join(top, filepath.FromSlash(path))
		if !info.IsDir() && !last || last && !info.Mode().IsRegular() {
			away := "mv -- " + wording.ShellWord(at) + " " + wording.ShellWord(filepath.Join(top, filepath.Base(at)+".aside"))
			if info.Mode()&fs.ModeSymlink != 0 {
				away = "rm -- " + wording.ShellWord(at)
			}
			return nil, &failure.Error{
				Message: fmt.Sprintf("%s is not an ordinary file in the work tree: %s is in the way", path, at),
				Remedy:  wording.Commands(away) + ", then run the command again",
			}
		}
	}
	data, err := os.ReadFile(at)
	if err != nil {
		return nil, &failure.Error{Message: "cannot read " + path + ": " + err.Error(), Err: err}
	}
	return data, nil // not nil, even if the file is empty
}

// present reads what is in the work tree. If that is a resolution already, which another run or a person made, it counts. If it has
// entries that no side has, they would be lost: that is an error.
func (r *resolving) present(ctx context.Context, c splice.Case) (there []byte, done *splice.Resolution, err error) {
	if r.apart {
		return nil, nil, nil
	}
	if there, err = readFile(r.git.top, c.Path); err != nil || there == nil {
		return there, nil, err
	}
	if r.op.word != "" {
		done, err = r.resolved(ctx, c, there)
		if done != nil {
			done.Added = false
		}
		return there, done, err
	}
	dirty, err := r.git.dirty(ctx, c.Path)
	if err != nil || !dirty {
		return there, nil, err
	}
	// Without a merge under way, what differs from HEAD is unfinished work, unless it is the result of this command.
	if done, err = r.resolved(ctx, c, there); err != nil || done == nil || !done.Added {
		return there, nil, r.uncommitted(c.Path)
	}
	done.Added = false
	return there, done, nil
}

// uncommitted is the failure of a file that is not as HEAD has it.
func (r *resolving) uncommitted(path string) error {
	file := wording.TopPath(path)
	return &failure.Error{
		Message: path + " has changes that are not committed",
		Remedy: "commit them first: " + wording.Commands("git add -- "+file, "git commit -m 'Record what was done' -- "+file,
			"small-hook reconcile "+wording.ShellWord(r.opts.Theirs)),
	}
}

// resolved is what is in the work tree, nil if that is no resolution. Added says that no side has its reconcile entry.
func (r *resolving) resolved(ctx context.Context, c splice.Case, there []byte) (*splice.Resolution, error) {
	blob, err := r.git.storeFile(ctx, c.Path, there)
	if err != nil {
		return nil, err
	}
	stored, err := r.repo.Blob(ctx, blob, r.limits().FileSize())
	if err != nil || stored.Data == nil {
		return nil, err
	}
	log, _ := ledger.ReadLog(stored.Data, r.limits())
	if log == nil {
		return nil, nil // conflict markers, or half a resolution
	}
	done, extra, err := c.Made(log, stored.Data)
	if err != nil || done != nil {
		return done, err
	}
	if len(extra) > 0 {
		err = &failure.Error{
			Message: fmt.Sprintf("%s has entries that no side has, and they would be lost: %s", c.Path, ledger.DescribeAll(extra)),
			Remedy:  "this keeps them, after those of both sides: `small-hook restore`",
		}
	}
	return nil, err
}

// plan plans to write a file, and reports whether that changes anything.
func (r *resolving) plan(ctx context.Context, w change) (bool, error) {
	if r.apart {
		r.changes = append(r.changes, w)
		return true, nil
	}
	var err error
	if w.blob, err = r.git.store(ctx, w.content); err != nil {
		return false, err
	}
	if w.disk, err = r.git.checkedOut(ctx, w.path, w.blob); err != nil {
		return false, err
	}
	if !w.keep {
		w.disk = w.there // it is the resolution already
	}
	staged := r.index[w.path]
	if bytes.Equal(w.disk, w.there) && w.there != nil && !staged.Unmerged && staged.Object == w.blob && staged.Mode == w.mode {
		return false, nil
	}
	r.changes = append(r.changes, w)
	return true, nil
}

// write writes the files, each in one step, and then stages them all at once. It cannot be interrupted. If it is killed, each file
// is old or new, and the index old; the same command finishes the work.
func (r *resolving) write(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	for _, w := range r.changes {
		if !w.keep || w.there == nil || bytes.Equal(w.there, w.disk) {
			continue
		}
		blob, err := r.git.storeFile(ctx, w.path, w.there)
		if err != nil {
			return err
		}
		if r.ofASide(cmp.Or(w.movedTo, w.path), blob) || r.onlyOfSides(ctx, w) {
			continue
		}
		r.out.Kept = append(r.out.Kept, [2]string{w.path, blob})
	}
	for _, w := range r.changes {
		file := filepath.Join(r.git.top, filepath.FromSlash(w.path))
		if w.movedTo != "" {
			if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return &failure.Error{Message: fmt.Sprintf("cannot remove %s: %v", w.path, err), Remedy: "remove it, then run `small-hook reconcile` again", Err: err}
			}
			continue
		}
		if bytes.Equal(w.there, w.disk) && w.there != nil {
			continue
		}
		err := os.MkdirAll(filepath.Dir(file), 0o777)
		if err == nil {
			err = wholefile.WriteVia(r.git.gitDir, file, w.disk)
		}
		if err != nil {
			return &failure.Error{
				Message: fmt.Sprintf("cannot write %s: %v", w.path, err),
				Remedy:  "make the file writable, then run `small-hook reconcile` again; nothing is staged yet",
				Err:     err,
			}
		}
	}
	if len(r.changes) == 0 {
		return nil
	}
	return r.git.stage(ctx, r.changes)
}

// ofASide reports whether a blob is a side's version of a file.
func (r *resolving) ofASide(file, blob string) bool {
	return slices.ContainsFunc(r.op.sides(), func(s side) bool {
		f, ok := r.files[s.id][file]
		return ok && f.Object == blob
	})
}

// onlyOfSides reports whether each line in the work tree is a side's or a conflict marker, as git leaves it after a merge.
func (r *resolving) onlyOfSides(ctx context.Context, w change) bool {
	lines, unknown := splice.Lines(w.there), map[string]bool{}
	for i, s := range r.op.sides() {
		data, err := r.read(ctx, s, cmp.Or(w.movedTo, w.path))
		if err != nil {
			return false
		}
		theirs := splice.Lines(data)
		if i == 0 {
			same := 0 // most of a log, before the first conflict
			for same < min(len(lines), len(theirs)) && bytes.Equal(lines[same], theirs[same]) {
				same++
			}
			for _, line := range lines[same:] {
				if small.ConflictMarker(line, small.MarkerSize) == 0 {
					unknown[string(bytes.TrimRight(line, "\r\n"))] = true
				}
			}
		}
		for _, line := range theirs {
			if text := bytes.TrimRight(line, "\r\n"); unknown[string(text)] {
				delete(unknown, string(text))
			}
		}
	}
	return len(unknown) == 0
}

// report adds to the outcome what has changed, and what is still in conflict.
func (r *resolving) report(ctx context.Context) error {
	var paths []string
	for _, w := range r.changes {
		paths = append(paths, w.path)
	}
	if len(paths) > 0 {
		var err error
		if r.out.Diff, err = r.git.diff(ctx, paths); err != nil {
			return err
		}
	}
	var err error
	if r.op.word != "" && r.out.Diff == "" {
		staged, err := r.git.staged(ctx)
		if err != nil {
			return err
		}
		if len(staged) == 0 {
			r.out.Empty, r.out.Finish = true, cmp.Or(r.op.skip, r.out.Finish)
		}
	}
	if r.out.Conflicts, err = r.conflicts(ctx); err != nil {
		return err
	}
	all, err := r.git.unmerged(ctx)
	for _, path := range all {
		if _, listed := r.index[path]; !listed {
			r.out.Elsewhere = append(r.out.Elsewhere, path)
		}
	}
	return err
}
