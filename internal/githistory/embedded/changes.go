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
	filter := githistory.NewFilter(f)
	results := make([][]history.Change, len(edges))
	for i, e := range edges {
		changes, err := r.compare(ctx, e, filter)
		if err != nil {
			return nil, err
		}
		results[i] = inOrder(changes)
		if err := githistory.CheckNames(changes); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func (r *Repo) compare(ctx context.Context, e history.Edge, filter *githistory.Filter) ([]history.Change, error) {
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
		return r.indexChanges(ctx, before, filter)
	}
	after, err := r.named(e.Child)
	if err != nil {
		return nil, err
	}
	d := diff{ctx: ctx, repo: r, filter: filter}
	err = d.dirs("", before, after.tree)
	return d.changes, err
}

// List lists files as [githistory.Repo.List] does.
func (r *Repo) List(ctx context.Context, revision string, f history.Filter) ([]history.File, error) {
	filter := githistory.NewFilter(f)
	var files []history.File
	if revision == history.Index {
		x, err := r.readIndex(ctx, filter.MatchesName)
		if err != nil {
			return nil, err
		}
		for _, e := range x.entries {
			files = append(files, e.staged())
		}
	} else {
		changes, err := r.compare(ctx, history.Edge{Child: revision}, filter)
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			files = append(files, c.New)
		}
	}
	slices.SortFunc(files, func(a, b history.File) int { return strings.Compare(a.Path, b.Path) })
	files = slices.Compact(files)
	return files, githistory.CheckNames(files)
}

// Sparse lists those of some paths of the index that are kept out of the work tree.
func (r *Repo) Sparse(ctx context.Context, paths []string) ([]string, error) {
	x, err := r.readIndex(ctx, func(name []byte) bool { return slices.Contains(paths, string(name)) })
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range x.entries {
		if e.sparse {
			out = append(out, e.path)
		}
	}
	return out, nil
}

// inOrder sorts changes by their paths.
func inOrder(changes []history.Change) []history.Change {
	slices.SortFunc(changes, func(a, b history.Change) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

// diff gathers what differs between two trees.
type diff struct {
	ctx    context.Context
	repo   *Repo
	filter *githistory.Filter
	// skip, if set, says which directories of the first tree are passed over.
	skip    func(path string, id plumbing.Hash) bool
	changes []history.Change
}

// dirs compares two directories, the zero id standing for none. It descends
// where they differ and may hold what is wanted. Of a tree whose
// entries are out of order some count as gone and added, so that their paths
// come twice.
func (d *diff) dirs(path string, before, after plumbing.Hash) error {
	if before == after || d.skip != nil && d.skip(path, before) {
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
	switch {
	case old.isDir() || now.isDir():
		if d.filter.MayHold(path) {
			return d.dirs(path, old.id, now.id)
		}
	case d.filter.Matches(path):
		d.changes = append(d.changes, history.Change{Path: path, Old: old.file(path), New: now.file(path)})
	}
	return nil
}
