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

// change is one file to write and stage, or to remove.
type change struct {
	path, mode string
	// content is the new text in the index, disk the same text as git checks it out. present is the work tree's file now, nil if there is none.
	content, disk, present []byte
	blob                   string
	// keepPresent is true if the work tree's file is the resolution already: only the index changes.
	keepPresent bool
	removed     bool
}

// readWorkTree reads the work tree's file. existing is the file as a resolution, if an earlier run or a person made it one; else nil. It fails if
// the file has entries that no side has, which would be lost, or uncommitted work if no operation is under way.
func (r *reconciliation) readWorkTree(ctx context.Context, c combine.Case) (present []byte, existing *combine.Resolution, err error) {
	if r.inMemory {
		return nil, nil, nil
	}
	if present, err = workgit.ReadFile(r.git.Top, c.Path); err != nil || present == nil {
		return present, nil, err
	}
	if r.op.kind != "" {
		existing, err = r.asResolution(ctx, c, present)
		if existing != nil {
			existing.Added = false
		}
		return present, existing, err
	}
	dirty, err := r.git.Dirty(ctx, c.Path)
	if err != nil || !dirty {
		return present, nil, err
	}
	// Without an operation under way, a change is somebody's work, unless it has the entry that an earlier run added.
	if existing, err = r.asResolution(ctx, c, present); err != nil || existing == nil || !existing.Added {
		return present, nil, r.errUncommitted(c.Path)
	}
	existing.Added = false
	return present, existing, nil
}

func (r *reconciliation) errUncommitted(path string) error {
	file := wording.TopPath(path)
	return &failure.Error{
		Message: path + " has changes that are not committed",
		Remedy: "commit them first: " + wording.Commands("git add -- "+file, "git commit -m 'Record what was done' -- "+file,
			"small-hook reconcile "+wording.ShellWord(r.opts.Theirs)),
	}
}

// asResolution returns the work tree's file as a resolution; nil if the file does not resolve the case. Added is true if the file has a reconcile
// entry that no side has.
func (r *reconciliation) asResolution(ctx context.Context, c combine.Case, present []byte) (*combine.Resolution, error) {
	blob, err := r.git.StoreFile(ctx, c.Path, present)
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
	case log == nil, kind.Configured() && addsMarkers(c, stored.Data): // conflict markers, or a partial resolution
		return nil, nil
	case kind.OfFile() && r.index[c.Path].Unmerged:
		return nil, nil
	case kind.OfFile():
		return c.FileAsResolution(stored.Data), nil
	}
	done, extra, err := c.LogAsResolution(log, stored.Data)
	if err != nil || done != nil {
		return done, err
	}
	if len(extra) > 0 {
		err = &failure.Error{
			Message: fmt.Sprintf("%s has entries that no side has, and they would be lost: %s", c.Path, ledger.DescribeAll(extra)),
			Remedy:  "to keep them after the entries of both sides: `small-hook restore" + remedy.InDirectory(c.Path) + "`",
		}
	}
	return nil, err
}

// addsMarkers reports whether a text has conflict markers, but no side's version has any.
func addsMarkers(c combine.Case, text []byte) bool {
	for _, v := range append([]combine.Version{c.Ours}, c.Theirs...) {
		if small.HasConflictMarkers(v.Data, small.MarkerSize) {
			return false
		}
	}
	return small.HasConflictMarkers(text, small.MarkerSize)
}

// planChange plans to write a file. It reports whether that changes the work tree or the index; in memory, always.
func (r *reconciliation) planChange(ctx context.Context, w change) (bool, error) {
	if r.inMemory {
		r.changes = append(r.changes, w)
		return true, nil
	}
	var err error
	if w.blob, w.disk, err = r.git.StoreCheckedOut(ctx, w.path, w.content); err != nil {
		return false, err
	}
	if w.keepPresent {
		w.disk = w.present
	}
	staged := r.index[w.path]
	if bytes.Equal(w.disk, w.present) && w.present != nil && !staged.Unmerged && staged.Object == w.blob && staged.Mode == w.mode {
		return false, nil
	}
	r.changes = append(r.changes, w)
	return true, nil
}

// writeAndStage writes the files, then stages them all at once. If it is killed while it writes, each file is old or new, and the index is old.
func (r *reconciliation) writeAndStage(ctx context.Context) error {
	var files []apply.File
	for _, w := range r.changes {
		f := apply.File{File: history.File{Path: w.path, Mode: w.mode, Object: w.blob}, Removed: w.removed}
		if same := bytes.Equal(w.present, w.disk) && w.present != nil; !same && !f.Removed {
			f.Content = w.disk
		}
		if !w.keepPresent && w.present != nil && !bytes.Equal(w.present, w.disk) && !r.hasOnlyLinesOfSides(ctx, w) {
			f.Over = w.present
		}
		files = append(files, f)
	}
	place := r.repo.Where()
	kept, err := apply.Place{
		Top: place.Top, Kept: lock.Dir(place.CommonDir, place.Top), Again: "run `small-hook reconcile` again",
	}.Do(ctx, r.git, files, nil)
	for _, path := range slices.Sorted(maps.Keys(kept)) {
		r.out.Copies = append(r.out.Copies, [2]string{path, kept[path]})
	}
	return err
}

// hasOnlyLinesOfSides reports whether each line of the work tree's file is a side's or a conflict marker, as in a file that git merged. The
// sides' versions of a removed log are at its new path.
func (r *reconciliation) hasOnlyLinesOfSides(ctx context.Context, w change) bool {
	path := w.path
	if w.removed {
		path = cmp.Or(r.newPaths[path], path)
	}
	known := map[string]bool{}
	for _, s := range r.op.sides() {
		data, err := r.readSide(ctx, s, path)
		if err != nil {
			return false
		}
		for line := range bytes.Lines(data) {
			known[string(bytes.TrimRight(line, "\r\n"))] = true
		}
	}
	for line := range bytes.Lines(w.present) {
		if !known[string(bytes.TrimRight(line, "\r\n"))] && small.ConflictMarker(line, small.MarkerSize) == 0 {
			return false
		}
	}
	return true
}

// completeOutcome adds the diff and the remaining conflicts to the outcome, and the command to type if there is nothing to commit.
func (r *reconciliation) completeOutcome(ctx context.Context) error {
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
	if r.op.kind != "" && r.out.Diff == "" {
		staged, err := r.git.StagedPaths(ctx)
		if err != nil {
			return err
		}
		if len(staged) == 0 {
			r.out.Empty, r.out.Finish = true, cmp.Or(r.op.skip, r.out.Finish)
		}
	}
	if r.out.Conflicts, err = r.listConflicts(ctx); err != nil {
		return err
	}
	all, err := r.git.Unmerged(ctx)
	for _, path := range all {
		if _, listed := r.index[path]; !listed {
			r.out.OtherConflicts = append(r.out.OtherConflicts, path)
		}
	}
	return err
}
