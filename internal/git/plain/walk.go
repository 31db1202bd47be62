package plain

import (
	"cmp"
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
)

// Commits lists commits as [githistory.Repo.Commits] does, whatever their dates.
func (r *Repo) Commits(ctx context.Context, include, exclude []string) ([]history.Commit, error) {
	tips, err := r.commitsOf(ctx, include)
	if err != nil {
		return nil, err
	}
	bottoms, err := r.commitsOf(ctx, exclude)
	if err != nil || len(tips) == 0 {
		return nil, err
	}
	floor := ""
	if len(bottoms) > 0 {
		if floor, err = r.floor(ctx, slices.Concat(tips, bottoms)); err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{}
	if _, err := r.ancestry(ctx, bottoms, floor, seen); err != nil {
		return nil, err
	}
	commits, err := r.ancestry(ctx, tips, floor, seen)
	out := make([]history.Commit, len(commits))
	for i, c := range commits {
		out[i] = c.Commit
	}
	return out, err
}

// commitsOf reads commits that the caller named.
func (r *Repo) commitsOf(ctx context.Context, names []string) ([]*commit, error) {
	commits := make([]*commit, len(names))
	for i, name := range names {
		var err error
		if commits[i], err = r.named(ctx, name); err != nil {
			return nil, err
		}
	}
	return commits, nil
}

// parentsOf reads the parents of a commit that are not in seen yet.
func (r *Repo) parentsOf(ctx context.Context, c *commit, seen map[string]bool) (parents []*commit, err error) {
	if err := alive(ctx, "listing commits"); err != nil {
		return nil, err
	}
	for _, id := range c.Parents {
		if seen[id] {
			continue
		}
		parent, err := r.commit(id)
		if err != nil {
			return nil, err
		}
		parents = append(parents, parent)
	}
	return parents, nil
}

// unseen returns the commits that are not in seen yet, each once, and adds them to it.
func unseen(commits []*commit, seen map[string]bool) []*commit {
	return slices.DeleteFunc(slices.Clone(commits), func(c *commit) bool {
		known := seen[c.ID]
		seen[c.ID] = true
		return known
	})
}

// ancestry lists the tips and everything reachable from them, except what is in seen already and what is below the floor; it adds the
// listed commits to seen.
func (r *Repo) ancestry(ctx context.Context, tips []*commit, floor string, seen map[string]bool) ([]*commit, error) {
	list := unseen(tips, seen)
	for i := 0; i < len(list); i++ {
		if list[i].ID == floor {
			continue
		}
		parents, err := r.parentsOf(ctx, list[i], seen)
		if err != nil {
			return nil, err
		}
		list = append(list, unseen(parents, seen)...)
	}
	return list, nil
}

// floor is a commit that every path down from the tips reaches: everything below it is reachable from each of them. Questions about commits
// reachable from only some of the tips, and about their best common ancestors, can be answered as if history began there. It is empty if a
// path reaches a root before.
//
// The newest commit is followed first. Commit dates can be wrong, but affect only how soon a floor is found.
func (r *Repo) floor(ctx context.Context, tips []*commit) (string, error) {
	seen := map[string]bool{}
	open := unseen(tips, seen)
	for len(open) > 1 {
		slices.SortFunc(open, func(a, b *commit) int { return cmp.Compare(a.date, b.date) })
		newest := open[len(open)-1]
		parents, err := r.parentsOf(ctx, newest, seen)
		if err != nil || len(newest.Parents) == 0 {
			return "", err
		}
		open = append(open[:len(open)-1], unseen(parents, seen)...)
	}
	return open[0].ID, nil
}

// MergeBases are as [githistory.Repo.MergeBases].
func (r *Repo) MergeBases(ctx context.Context, a, b string) ([]string, error) {
	tips, err := r.commitsOf(ctx, []string{a, b})
	if err != nil {
		return nil, err
	}
	floor, err := r.floor(ctx, tips)
	if err != nil {
		return nil, err
	}
	first := map[string]bool{}
	if _, err := r.ancestry(ctx, tips[:1], floor, first); err != nil {
		return nil, err
	}
	list, err := r.ancestry(ctx, tips[1:], floor, map[string]bool{})
	list = slices.DeleteFunc(list, func(c *commit) bool { return !first[c.ID] })
	// Ancestors of a common commit are common too, so the best are those that are not a parent of another.
	isParent := map[string]bool{}
	for _, c := range list {
		for _, id := range c.Parents {
			isParent[id] = true
		}
	}
	var bases []string
	for _, c := range list {
		if !isParent[c.ID] {
			bases = append(bases, c.ID)
		}
	}
	slices.Sort(bases)
	return bases, err
}

// IsAncestor is as [githistory.Repo.IsAncestor].
func (r *Repo) IsAncestor(ctx context.Context, ancestor, commit string) (bool, error) {
	bases, err := r.MergeBases(ctx, ancestor, commit)
	return slices.Contains(bases, ancestor), err
}
