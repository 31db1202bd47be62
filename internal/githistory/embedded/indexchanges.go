package embedded

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"

	"github.com/go-git/go-git/v5/plumbing"

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
func (r *Repo) indexChanges(ctx context.Context, before plumbing.Hash, wanted func(path string) bool) ([]history.Change, error) {
	x, err := r.readIndex(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if x.tree.is(before) {
		return nil, nil
	}
	c := indexDiff{ctx: ctx, repo: r, wanted: wanted, old: map[string]history.File{}, same: map[string]bool{}}
	if err := c.dir("", before, x.tree); err != nil {
		return nil, err
	}
	now := map[string]history.File{}
	for _, e := range x.entries {
		if !c.covered(e.path) {
			now[e.path] = e.staged()
		}
	}
	var changes []history.Change
	for path, old := range c.old {
		if now[path] != old {
			changes = append(changes, history.Change{Path: path, Old: old, New: now[path]})
		}
	}
	for path, staged := range now {
		if _, known := c.old[path]; !known {
			changes = append(changes, history.Change{Path: path, New: staged})
		}
	}
	return changes, nil
}

// indexDiff compares a tree with an index.
type indexDiff struct {
	ctx  context.Context
	repo *Repo
	// wanted says which files are of interest.
	wanted func(path string) bool
	// old are the files of interest in the tree, but for those in directories
	// that are the same in the index.
	old  map[string]history.File
	same map[string]bool
}

// dir gathers the files of interest of a directory of the tree; cached is what
// the index remembers of it, if anything.
func (c *indexDiff) dir(path string, id plumbing.Hash, cached *cachedTree) error {
	if cached.is(id) {
		c.same[path] = true
		return nil
	}
	if err := alive(c.ctx, "comparing the index"); err != nil {
		return err
	}
	entries, err := c.repo.tree(id)
	if err != nil {
		return err
	}
	subs := cached.byName()
	for _, e := range entries {
		name := join(path, e.name)
		if e.isDir() {
			err = c.dir(name, e.id, subs[e.name])
		} else if c.wanted(name) {
			f := e.file(name)
			if before, twice := c.old[name]; twice {
				return githistory.CheckNames([]history.File{before, f})
			}
			c.old[name] = f
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// covered reports whether a path lies in a directory that is the same in the
// tree and in the index.
func (c *indexDiff) covered(path string) bool {
	for i := range len(path) {
		if path[i] == '/' && c.same[path[:i]] {
			return true
		}
	}
	return c.same[""]
}
