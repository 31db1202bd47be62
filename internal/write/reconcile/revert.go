package reconcile

import (
	"context"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// planRevert plans to restore the files of workspaces and the configured logs as in HEAD: a revert undoes code, but a log keeps its entries.
// A file that HEAD lacks stays if the revert brings it back without a conflict.
func (r *reconciliation) planRevert(ctx context.Context) error {
	head, err := r.listFiles(ctx, r.op.ours.id)
	if err != nil {
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
