package embedded

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/githistory"
)

// staged is the entry as the gate knows it.
func (e indexEntry) staged() history.File {
	if e.stage != 0 {
		return history.File{Path: e.path, Unmerged: true}
	}
	return e.file(e.path)
}

// indexChanges compares a tree with the index. Directories that the index knows
// to be what they are in the tree are passed over.
func (r *Repo) indexChanges(ctx context.Context, before plumbing.Hash, filter *githistory.Filter) ([]history.Change, error) {
	x, err := r.readIndex(ctx, filter.MatchesName)
	if err != nil {
		return nil, err
	}
	same := map[string]bool{}
	d := diff{ctx: ctx, repo: r, filter: filter, skip: func(path string, id plumbing.Hash) bool {
		known, ok := x.trees[path]
		same[path] = ok && known == id
		return same[path]
	}}
	if err := d.dirs("", before, plumbing.ZeroHash); err != nil {
		return nil, err
	}
	if err := githistory.CheckNames(inOrder(d.changes)); err != nil {
		return nil, err
	}
	now := map[string]history.File{}
	for _, e := range x.entries {
		if !covered(e.path, same) {
			now[e.path] = e.staged()
		}
	}
	var changes []history.Change
	for _, c := range d.changes {
		if c.New = now[c.Path]; c.New != c.Old {
			changes = append(changes, c)
		}
		delete(now, c.Path)
	}
	for path, staged := range now {
		changes = append(changes, history.Change{Path: path, New: staged})
	}
	return changes, nil
}

// covered reports whether a path lies in one of some directories.
func covered(path string, dirs map[string]bool) bool {
	for i := range len(path) {
		if path[i] == '/' && dirs[path[:i]] {
			return true
		}
	}
	return dirs[""]
}
