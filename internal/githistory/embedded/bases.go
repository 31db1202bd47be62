package embedded

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// MergeBases are as [githistory.Repo.MergeBases].
func (r *Repo) MergeBases(ctx context.Context, a, b string) ([]string, error) {
	first, err := r.history(ctx, a)
	if err != nil {
		return nil, err
	}
	second, err := r.history(ctx, b)
	if err != nil {
		return nil, err
	}
	if err := r.checkDifference(ctx, a, b); err != nil {
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
	above, err := r.named(ancestor)
	if err != nil {
		return false, err
	}
	below, err := r.history(ctx, commit)
	if err != nil || below[above.id] != nil {
		return err == nil, err
	}
	return false, r.checkDifference(ctx, ancestor, commit) // a no is only as good as the history that was seen
}

// history is a commit and everything that is reachable from it.
func (r *Repo) history(ctx context.Context, name string) (map[plumbing.Hash]*commit, error) {
	tip, err := r.named(name)
	if err != nil {
		return nil, err
	}
	list, err := r.ancestry(ctx, []*commit{tip}, map[plumbing.Hash]bool{})
	if err != nil {
		return nil, err
	}
	commits := make(map[plumbing.Hash]*commit, len(list))
	for _, c := range list {
		commits[c.id] = c
	}
	return commits, nil
}
