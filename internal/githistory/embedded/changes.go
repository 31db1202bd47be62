package embedded

import (
	"context"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/githistory"
)

// Changes compares trees: for each edge the files below .small directories,
// .small itself where it is not a directory, the same of its lookalikes, the
// policy file at the root, and what is watched, if their mode or object differs,
// in order of path. An empty Parent stands for the empty tree; Child may be gate.Index. A
// path that a tree holds twice is an error.
func (r *Repo) Changes(ctx context.Context, edges []gate.Edge) ([][]gate.Change, error) {
	return r.compare(ctx, edges, r.ofInterest())
}

// Difference compares two trees as Changes does, and lists every path that
// differs.
func (r *Repo) Difference(ctx context.Context, edge gate.Edge) ([]gate.Change, error) {
	changes, err := r.compare(ctx, []gate.Edge{edge}, anyPath)
	if err != nil {
		return nil, err
	}
	return changes[0], nil
}

// selection says which paths are looked at.
type selection struct {
	wanted func(path string) bool
	// indexed is a quick look at a path of the index: false for one that cannot
	// be wanted.
	indexed func(path []byte) bool
}

// ofInterest selects what the gate judges, and what it watches.
func (r *Repo) ofInterest() selection {
	return selection{
		wanted: r.watch.OfInterest,
		indexed: func(path []byte) bool {
			return hidden(path) && githistory.OfInterest(string(path)) || r.watch.Maybe(path) && r.watch.Matches(string(path))
		},
	}
}

// anyPath selects all.
var anyPath = selection{
	wanted:  func(string) bool { return true },
	indexed: func([]byte) bool { return true },
}

// compare compares trees as far as the selection goes.
func (r *Repo) compare(ctx context.Context, edges []gate.Edge, of selection) ([][]gate.Change, error) {
	results := make([][]gate.Change, len(edges))
	for i, e := range edges {
		if err := alive(ctx, "comparing commits"); err != nil {
			return nil, err
		}
		before, err := r.rootOf(e.Parent)
		if err != nil {
			return nil, err
		}
		if e.Child == gate.Index {
			if results[i], err = r.indexChanges(ctx, before, of); err != nil {
				return nil, err
			}
			continue
		}
		child, err := parseID(e.Child)
		if err != nil {
			return nil, err
		}
		after, err := r.named(child)
		if err != nil {
			return nil, err
		}
		d := diff{ctx: ctx, repo: r, wanted: of.wanted}
		if err := d.dirs("", before, after.tree); err != nil {
			return nil, err
		}
		results[i] = d.changes
	}
	for _, changes := range results {
		slices.SortFunc(changes, func(a, b gate.Change) int { return strings.Compare(a.Path, b.Path) })
		if err := githistory.CheckNames(changes); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// rootOf is the tree of a commit; an empty id stands for the empty tree.
func (r *Repo) rootOf(id string) (plumbing.Hash, error) {
	if id == "" {
		return emptyTree, nil
	}
	parsed, err := parseID(id)
	if err != nil {
		return parsed, err
	}
	c, err := r.named(parsed)
	if err != nil {
		return parsed, err
	}
	return c.tree, nil
}

// diff gathers what differs between two trees.
type diff struct {
	ctx     context.Context
	repo    *Repo
	wanted  func(path string) bool
	changes []gate.Change
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
	for moreA, moreB := a.next(), b.next(); moreA || moreB; {
		order := 0
		switch {
		case !moreB:
			order = -1
		case !moreA:
			order = 1
		default:
			order = compareNames(a.name, a.entry.isDir(), b.name, b.entry.isDir())
		}
		var old, now treeEntry
		name := b.name
		if order <= 0 {
			old, name = a.entry, a.name
		}
		if order >= 0 {
			now = b.entry
		}
		if old != now {
			if err := d.entries(join(path, string(name)), old, now); err != nil {
				return err
			}
		}
		if order <= 0 {
			moreA = a.next()
		}
		if order >= 0 {
			moreB = b.next()
		}
	}
	if a.err != nil {
		return d.repo.unreadable(before, a.err)
	}
	if b.err != nil {
		return d.repo.unreadable(after, b.err)
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
		d.changes = append(d.changes, gate.Change{Path: path, Old: old.file(path), New: now.file(path)})
	}
	return nil
}
