package embedded

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/githistory"
)

// Diff compares trees as [githistory.Repo.Diff] does.
func (r *Repo) Diff(ctx context.Context, edges []history.Edge, f history.Filter) ([][]history.Change, error) {
	wanted := githistory.NewFilter(f).Matches
	results := make([][]history.Change, len(edges))
	for i, e := range edges {
		if err := alive(ctx, "comparing commits"); err != nil {
			return nil, err
		}
		before := emptyTree
		if e.Parent != "" {
			parent, err := r.named(e.Parent)
			if err != nil {
				return nil, err
			}
			before = parent.tree
		}
		if e.Child == history.Index {
			changes, err := r.indexChanges(ctx, before, wanted)
			if err != nil {
				return nil, err
			}
			results[i] = changes
			continue
		}
		after, err := r.named(e.Child)
		if err != nil {
			return nil, err
		}
		d := diff{ctx: ctx, repo: r, wanted: wanted}
		if err := d.dirs("", before, after.tree); err != nil {
			return nil, err
		}
		results[i] = d.changes
	}
	for _, changes := range results {
		slices.SortFunc(changes, func(a, b history.Change) int { return strings.Compare(a.Path, b.Path) })
		if err := githistory.CheckNames(changes); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// diff gathers what differs between two trees.
type diff struct {
	ctx     context.Context
	repo    *Repo
	wanted  func(path string) bool
	changes []history.Change
}

// dirs compares two directories, the zero id standing for none. It descends
// where they differ: anything may hold a .small directory. Of a tree whose
// entries are out of order some count as gone and added, so that their paths
// come twice.
func (d *diff) dirs(path string, before, after plumbing.Hash) error {
	if before == after {
		return nil
	}
	if err := alive(d.ctx, "comparing commits"); err != nil {
		return err
	}
	a, err := d.repo.tree(before)
	if err != nil {
		return err
	}
	b, err := d.repo.tree(after)
	if err != nil {
		return err
	}
	for len(a)+len(b) > 0 {
		order := len(b) - len(a) // one may have come to its end
		if len(a) > 0 && len(b) > 0 {
			if a[0] == b[0] {
				a, b = a[1:], b[1:]
				continue
			}
			order = strings.Compare(a[0].sortKey(), b[0].sortKey())
		}
		var old, now treeEntry
		if order <= 0 {
			old, a = a[0], a[1:]
		}
		if order >= 0 {
			now, b = b[0], b[1:]
		}
		if err := d.entries(join(path, cmp.Or(old.name, now.name)), old, now); err != nil {
			return err
		}
	}
	return nil
}

// entries compares two entries of one name that differ. They are both
// directories or both something else, or one is none.
func (d *diff) entries(path string, old, now treeEntry) error {
	if old.isDir() || now.isDir() {
		return d.dirs(path, old.id, now.id)
	}
	if d.wanted(path) {
		d.changes = append(d.changes, history.Change{Path: path, Old: old.file(path), New: now.file(path)})
	}
	return nil
}
