package embedded

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/githistory"
)

// MergeBases are as [githistory.Repo.MergeBases].
func (r *Repo) MergeBases(ctx context.Context, a, b string) ([]string, error) {
	histories, err := r.histories(ctx, a, b)
	if err != nil {
		return nil, err
	}
	first, second := histories[0], histories[1]
	if err := githistory.CheckDifference(ctx, r, r.Shallow, a, b); err != nil {
		return nil, err
	}
	// What is common has common ancestors only, so the best are those that are
	// no parent of another.
	isParent := map[plumbing.Hash]bool{}
	for id, c := range first {
		if second[id] != nil {
			for _, p := range c.parents {
				isParent[p] = true
			}
		}
	}
	var bases []string
	for id := range first {
		if second[id] != nil && !isParent[id] {
			bases = append(bases, id.String())
		}
	}
	slices.Sort(bases)
	return bases, nil
}

// IsAncestor is as [githistory.Repo.IsAncestor].
func (r *Repo) IsAncestor(ctx context.Context, ancestor, commit string) (bool, error) {
	histories, err := r.histories(ctx, ancestor, commit)
	if err != nil {
		return false, err
	}
	above, err := r.named(ancestor)
	if err != nil || histories[1][above.id] != nil {
		return err == nil, err
	}
	return false, githistory.CheckDifference(ctx, r, r.Shallow, ancestor, commit) // a no is only as good as the history that was seen
}

// histories are two commits, each with everything that is reachable from it down to their floor.
func (r *Repo) histories(ctx context.Context, names ...string) ([]map[plumbing.Hash]*commit, error) {
	tips := make([]*commit, len(names))
	for i, name := range names {
		var err error
		if tips[i], err = r.named(name); err != nil {
			return nil, err
		}
	}
	floor, err := r.floor(ctx, tips...)
	if err != nil {
		return nil, err
	}
	out := make([]map[plumbing.Hash]*commit, len(tips))
	for i, tip := range tips {
		list, err := r.ancestry(ctx, []*commit{tip}, floor, map[plumbing.Hash]bool{})
		if err != nil {
			return nil, err
		}
		out[i] = make(map[plumbing.Hash]*commit, len(list))
		for _, c := range list {
			out[i][c.id] = c
		}
	}
	return out, nil
}
