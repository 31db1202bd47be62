package embedded

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"

	"github.com/go-git/go-git/v5/plumbing"
)

// Commits lists commits as [githistory.Repo.Commits] does.
//
// What is excluded is followed to a floor, or to its beginning. That is right whatever dates the commits have.
func (r *Repo) Commits(ctx context.Context, include, exclude []string) ([]history.Commit, error) {
	tips, err := r.commitsOf(include)
	if err != nil {
		return nil, err
	}
	bottoms, err := r.commitsOf(exclude)
	if err != nil || len(tips) == 0 {
		return nil, err
	}
	excluded, floor := map[plumbing.Hash]bool{}, plumbing.ZeroHash
	if len(bottoms) > 0 {
		if floor, err = r.floor(ctx, slices.Concat(tips, bottoms)...); err != nil {
			return nil, err
		}
	}
	if _, err := r.ancestry(ctx, bottoms, floor, excluded); err != nil {
		return nil, err
	}
	commits, err := r.ancestry(ctx, tips, floor, excluded)
	if err != nil {
		return nil, err
	}
	if err := r.checkBoundary(commits, len(exclude) > 0); err != nil {
		return nil, err
	}
	out := make([]history.Commit, len(commits))
	for i, c := range commits {
		out[i] = history.Commit{ID: c.id.String(), Parents: texts(c.parents)}
		if len(exclude) > 0 {
			out[i].Lanes = c.lanes
		}
	}
	return out, nil
}

// commitsOf reads the commits that the caller named, tags followed.
func (r *Repo) commitsOf(names []string) ([]*commit, error) {
	commits := make([]*commit, len(names))
	for i, name := range names {
		id, err := parseID(name)
		if err == nil {
			id, err = r.peelNamed(id)
		}
		if err != nil {
			return nil, err
		}
		if commits[i], err = r.commit(id); err != nil {
			return nil, err
		}
	}
	return commits, nil
}

// ancestry lists the tips and everything that is reachable from them, but for
// what is in seen already and what is below the floor; it adds what it lists to seen.
func (r *Repo) ancestry(ctx context.Context, tips []*commit, floor plumbing.Hash, seen map[plumbing.Hash]bool) ([]*commit, error) {
	var list []*commit
	for _, c := range tips {
		if !seen[c.id] {
			seen[c.id] = true
			list = append(list, c)
		}
	}
	for i := 0; i < len(list); i++ {
		if i%1024 == 0 {
			if err := alive(ctx, "listing commits"); err != nil {
				return nil, err
			}
		}
		if list[i].id == floor {
			continue
		}
		for _, id := range list[i].parents {
			if seen[id] {
				continue
			}
			seen[id] = true
			c, err := r.commit(id)
			if err != nil {
				return nil, err
			}
			list = append(list, c)
		}
	}
	return list, nil
}

func texts(ids []plumbing.Hash) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.String()
	}
	return out
}
