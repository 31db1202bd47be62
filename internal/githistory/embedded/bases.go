package embedded

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// MergeBases are the best common ancestors of two commits, in order of id: none
// if their histories are unrelated, several after criss-cross merges. In a shallow
// clone that may hide an answer it is an error.
func (r *Repo) MergeBases(ctx context.Context, a, b string) ([]string, error) {
	first, second, err := r.histories(ctx, a, b)
	if err != nil {
		return nil, err
	}
	if err := r.checkDifference(first, second); err != nil {
		return nil, err
	}
	var common []*commit
	isParent := map[plumbing.Hash]bool{}
	for id, c := range first {
		if second[id] == nil {
			continue
		}
		common = append(common, c)
		for _, p := range c.parents {
			isParent[p] = true
		}
	}
	// What is common has common ancestors only, so the best are those that are
	// no parent of another.
	var bases []string
	for _, c := range common {
		if !isParent[c.id] {
			bases = append(bases, c.id.String())
		}
	}
	slices.Sort(bases)
	return bases, nil
}

// IsAncestor reports whether ancestor is commit or reachable from it. In a
// shallow clone that may hide the way from one to the other it is an error.
func (r *Repo) IsAncestor(ctx context.Context, ancestor, commit string) (bool, error) {
	above, below, err := r.histories(ctx, ancestor, commit)
	if err != nil {
		return false, err
	}
	id, err := parseID(ancestor)
	if err != nil || below[id] != nil {
		return err == nil, err
	}
	return false, r.checkDifference(above, below) // a no is only as good as the history that was seen
}

// histories are everything that is reachable from each of two commits.
func (r *Repo) histories(ctx context.Context, a, b string) (first, second map[plumbing.Hash]*commit, err error) {
	var out [2]map[plumbing.Hash]*commit
	for i, name := range []string{a, b} {
		id, err := parseID(name)
		if err != nil {
			return nil, nil, err
		}
		tip, err := r.named(id)
		if err != nil {
			return nil, nil, err
		}
		list, err := r.ancestry(ctx, []*commit{tip}, map[plumbing.Hash]bool{})
		if err != nil {
			return nil, nil, err
		}
		out[i] = make(map[plumbing.Hash]*commit, len(list))
		for _, c := range list {
			out[i][c.id] = c
		}
	}
	return out[0], out[1], nil
}

// checkDifference fails if, in a shallow clone, the commits that only one of
// two histories has touch the boundary: what is hidden there may connect them.
// Hidden history that both share cannot.
func (r *Repo) checkDifference(a, b map[plumbing.Hash]*commit) error {
	if !r.Shallow {
		return nil
	}
	for _, side := range [][2]map[plumbing.Hash]*commit{{a, b}, {b, a}} {
		var own []*commit
		for id, c := range side[0] {
			if side[1][id] == nil {
				own = append(own, c)
			}
		}
		slices.SortFunc(own, func(a, b *commit) int { return cmp.Compare(a.id.String(), b.id.String()) })
		if err := r.checkBoundary(own, true); err != nil {
			return err
		}
	}
	return nil
}
