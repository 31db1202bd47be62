package reconcile

import (
	"context"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/small"
)

// planRevert plans to restore the files of workspaces and the configured logs as in HEAD: a revert undoes code, but a log keeps its entries.
// A file that HEAD lacks stays if the revert brings it back without a conflict. A workspace that the revert moves stays at its new path.
func (r *reconciliation) planRevert(ctx context.Context) error {
	head, err := r.listFiles(ctx, r.op.ours.id)
	if err != nil {
		return err
	}
	if err := r.followRevertedMoves(ctx, head); err != nil {
		return err
	}
	differs := map[string]bool{} // from HEAD, by path
	for path, f := range head {
		staged := r.index[path]
		differs[path] = staged.Unmerged || staged.Object != f.Object || staged.Mode != f.Mode
	}
	for path, f := range r.index {
		differs[path] = differs[path] || f.Unmerged
	}
	for _, path := range slices.Sorted(maps.Keys(differs)) {
		dir, _, in := small.SplitPath(path)
		guarded := in && r.opts.Policy.Judges(dir) || r.opts.Policy.LogFor(path) != nil
		if !differs[path] || !guarded {
			continue
		}
		if err := r.planFileAsInHead(ctx, path); err != nil {
			return err
		}
		r.out.AsInHead = append(r.out.AsInHead, path)
	}
	return nil
}

// planFileAsInHead plans to restore one file as in HEAD, or to remove it if HEAD lacks it.
func (r *reconciliation) planFileAsInHead(ctx context.Context, path string) error {
	content, err := r.readSide(ctx, r.op.ours, path)
	if err != nil {
		return err
	}
	if content == nil {
		return r.planRemoval(path)
	}
	_, err = r.planFile(ctx, path, r.modeOf(path), content)
	return err
}

// followRevertedMoves handles workspaces that the revert moves, often back to a former directory: in head, the list of HEAD's files, it puts their
// files at the new paths. A workspace is moved if the index lacks its log, but has the same version of the log in another directory, or has that
// version as our side of a conflict there.
func (r *reconciliation) followRevertedMoves(ctx context.Context, head map[string]history.File) error {
	stages, err := r.git.Stages(ctx)
	if err != nil {
		return err
	}
	for _, from := range slices.Sorted(maps.Keys(head)) {
		if _, stays := r.index[from]; stays || !read.IsProgress(from) {
			continue
		}
		for _, to := range slices.Sorted(maps.Keys(r.index)) {
			_, inHead := head[to]
			sameLog := r.index[to].Object == head[from].Object || stages["2"][to].Object == head[from].Object
			if inHead || !read.IsProgress(to) || !sameLog {
				continue
			}
			fromDir, _, _ := small.SplitPath(from)
			toDir, _, _ := small.SplitPath(to)
			if err := r.followRevertedMove(head, fromDir, toDir); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// followRevertedMove puts the files of a workspace at their new paths in head. It plans to remove the files that git has left at the old paths.
func (r *reconciliation) followRevertedMove(head map[string]history.File, fromDir, toDir string) error {
	files := FilesBelow(head, small.InDir(fromDir, ""))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		old := f.Path
		delete(head, old)
		f.Path = small.InDir(toDir, name)
		head[f.Path] = f
		if _, staged := r.index[old]; !staged {
			continue
		}
		if err := r.planRemoval(old); err != nil {
			return err
		}
	}
	return nil
}
