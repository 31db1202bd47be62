package embedded

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// floor is a commit to which every way down from some commits leads, however long it is: whatever is below it is reachable from each of
// them. So a question about what only some of them reach, and about their best common ancestors, can be answered as if the history
// began there. It is zero where a way ends before, or is hidden.
//
// The newest commit is followed first. Its date is that of who made it, and decides only how soon a floor is found.
func (r *Repo) floor(ctx context.Context, tips ...*commit) (plumbing.Hash, error) {
	var open []*commit // in order of date, and each once
	seen := map[plumbing.Hash]bool{}
	add := func(c *commit) {
		if !seen[c.id] {
			seen[c.id] = true
			at, _ := slices.BinarySearchFunc(open, c.date, func(o *commit, date int64) int {
				if o.date <= date {
					return -1
				}
				return 1
			})
			open = slices.Insert(open, at, c)
		}
	}
	for _, c := range tips {
		add(c)
	}
	for len(open) > 1 {
		if err := alive(ctx, "listing commits"); err != nil {
			return plumbing.ZeroHash, err
		}
		newest := open[len(open)-1]
		open = open[:len(open)-1]
		for _, id := range newest.parents {
			c, err := r.commit(id)
			if err != nil {
				return plumbing.ZeroHash, err
			}
			add(c)
		}
		if len(newest.parents) == 0 {
			return plumbing.ZeroHash, nil
		}
	}
	return open[0].id, nil
}
