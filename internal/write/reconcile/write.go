package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/lock"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/apply"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// change is one file to write and stage.
type change struct {
	path, mode string
	// content is what is staged, disk what is written to the work tree, there its present content (nil for none).
	content, disk, there []byte
	blob                 string
	// keep is true if only the work tree may have the present content: a copy is kept.
	keep bool
	// movedTo is the path at which the log is written instead: this file is removed.
	movedTo string
}

// present reads the work tree's file. If it already is a resolution, by another run or a person, it counts. Entries in it that no side has
// would be lost: that is an error.
func (r *resolving) present(ctx context.Context, c combine.Case) (there []byte, done *combine.Resolution, err error) {
	if r.apart {
		return nil, nil, nil
	}
	if there, err = workgit.ReadFile(r.git.Top, c.Path); err != nil || there == nil {
		return there, nil, err
	}
	if r.op.word != "" {
		done, err = r.resolved(ctx, c, there)
		if done != nil {
			done.Added = false
		}
		return there, done, err
	}
	dirty, err := r.git.Dirty(ctx, c.Path)
	if err != nil || !dirty {
		return there, nil, err
	}
	// Without a merge under way, differences from HEAD are unfinished work, unless this command made them.
	if done, err = r.resolved(ctx, c, there); err != nil || done == nil || !done.Added {
		return there, nil, r.uncommitted(c.Path)
	}
	done.Added = false
	return there, done, nil
}

// uncommitted is the failure of a file that differs from HEAD.
func (r *resolving) uncommitted(path string) error {
	file := wording.TopPath(path)
	return &failure.Error{
		Message: path + " has changes that are not committed",
		Remedy: "commit them first: " + wording.Commands("git add -- "+file, "git commit -m 'Record what was done' -- "+file,
			"small-hook reconcile "+wording.ShellWord(r.opts.Theirs)),
	}
}

// resolved is the work tree's file as a resolution, nil if it is none. Added says that no side has its reconcile entry.
func (r *resolving) resolved(ctx context.Context, c combine.Case, there []byte) (*combine.Resolution, error) {
	blob, err := r.git.StoreFile(ctx, c.Path, there)
	if err != nil {
		return nil, err
	}
	stored, err := r.repo.Blob(ctx, blob, r.limits().FileSize())
	if err != nil || stored.Data == nil {
		return nil, err
	}
	kind := combine.KindOf(r.opts.Policy, c.Path)
	log, _ := kind.Read(stored.Data, r.limits())
	switch {
	case log == nil, kind.Configured() && marked(c, stored.Data): // conflict markers, or a partial resolution
		return nil, nil
	case kind.OfFile() && r.index[c.Path].Unmerged:
		return nil, nil
	case kind.OfFile():
		return c.MadeFile(stored.Data), nil
	}
	done, extra, err := c.Made(log, stored.Data)
	if err != nil || done != nil {
		return done, err
	}
	if len(extra) > 0 {
		err = &failure.Error{
			Message: fmt.Sprintf("%s has entries that no side has, and they would be lost: %s", c.Path, ledger.DescribeAll(extra)),
			Remedy:  "this keeps them, after those of both sides: `small-hook restore" + remedy.InDirectory(c.Path) + "`",
		}
	}
	return nil, err
}

// marked reports whether a text has conflict markers that no side has.
func marked(c combine.Case, text []byte) bool {
	for _, v := range append([]combine.Version{c.Ours}, c.Theirs...) {
		if small.HasConflictMarkers(v.Data, small.MarkerSize) {
			return false
		}
	}
	return small.HasConflictMarkers(text, small.MarkerSize)
}

// plan plans to write a file, and reports whether that changes anything.
func (r *resolving) plan(ctx context.Context, w change) (bool, error) {
	if r.apart {
		r.changes = append(r.changes, w)
		return true, nil
	}
	var err error
	if w.blob, err = r.git.Store(ctx, w.content); err != nil {
		return false, err
	}
	if w.disk, err = r.git.CheckedOut(ctx, w.path, w.blob); err != nil {
		return false, err
	}
	if !w.keep {
		w.disk = w.there // it already is the resolution
	}
	staged := r.index[w.path]
	if bytes.Equal(w.disk, w.there) && w.there != nil && !staged.Unmerged && staged.Object == w.blob && staged.Mode == w.mode {
		return false, nil
	}
	r.changes = append(r.changes, w)
	return true, nil
}

// write writes the files and stages them all at once. If it is killed, each file is old or new, and the index old.
func (r *resolving) write(ctx context.Context) error {
	var files []apply.File
	for _, w := range r.changes {
		f := apply.File{File: history.File{Path: w.path, Mode: w.mode, Object: w.blob}, Removed: w.movedTo != ""}
		if same := bytes.Equal(w.there, w.disk) && w.there != nil; !same && !f.Removed {
			f.Content = w.disk
		}
		if w.keep && w.there != nil && !bytes.Equal(w.there, w.disk) && !r.onlyOfSides(ctx, w) {
			f.Over = w.there
		}
		files = append(files, f)
	}
	place := r.repo.Where()
	kept, err := apply.Place{
		Top: place.Top, Kept: lock.Dir(place.CommonDir, place.Top), Again: "run `small-hook reconcile` again",
	}.Do(ctx, r.git, files, nil)
	for _, path := range slices.Sorted(maps.Keys(kept)) {
		r.out.Kept = append(r.out.Kept, [2]string{path, kept[path]})
	}
	return err
}

// onlyOfSides reports whether each line in the work tree is a side's or a conflict marker, as git leaves it after a merge.
func (r *resolving) onlyOfSides(ctx context.Context, w change) bool {
	known := map[string]bool{}
	for _, s := range r.op.sides() {
		data, err := r.read(ctx, s, cmp.Or(w.movedTo, w.path))
		if err != nil {
			return false
		}
		for line := range bytes.Lines(data) {
			known[string(bytes.TrimRight(line, "\r\n"))] = true
		}
	}
	for line := range bytes.Lines(w.there) {
		if !known[string(bytes.TrimRight(line, "\r\n"))] && small.ConflictMarker(line, small.MarkerSize) == 0 {
			return false
		}
	}
	return true
}

// report adds changes and remaining conflicts to the outcome.
func (r *resolving) report(ctx context.Context) error {
	var paths []string
	for _, w := range r.changes {
		paths = append(paths, w.path)
	}
	if len(paths) > 0 {
		var err error
		if r.out.Diff, err = r.git.Diff(ctx, paths); err != nil {
			return err
		}
	}
	var err error
	if r.op.word != "" && r.out.Diff == "" {
		staged, err := r.git.StagedPaths(ctx)
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
	all, err := r.git.Unmerged(ctx)
	for _, path := range all {
		if _, listed := r.index[path]; !listed {
			r.out.Elsewhere = append(r.out.Elsewhere, path)
		}
	}
	return err
}
