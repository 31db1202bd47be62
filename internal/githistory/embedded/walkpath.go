package embedded

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/gate"
)

// touching lists the commits of the range that touch a path, and merges, as git
// does with --full-history --parents: nothing is left out because a merge
// dropped it.
func (w *walk) touching(ctx context.Context, path string) ([]gate.Commit, error) {
	t := &touch{walk: w, entries: map[plumbing.Hash]treeEntry{}, same: make(map[plumbing.Hash]bool, len(w.commits)), nearest: map[plumbing.Hash]ancestor{}}
	byID := make(map[plumbing.Hash]*commit, len(w.commits))
	for i, c := range w.commits {
		if i%1024 == 0 {
			if err := alive(ctx, "listing commits"); err != nil {
				return nil, err
			}
		}
		byID[c.id] = c
		same, err := t.unchanged(c, path)
		if err != nil {
			return nil, err
		}
		t.same[c.id] = same
	}
	var out []gate.Commit
	for _, c := range w.commits {
		// Parents come first, so their nearest listed ancestors are known.
		t.nearest[c.id] = t.standIn(c)
		if t.same[c.id] && t.relevantParents(c) < 2 {
			continue
		}
		out = append(out, gate.Commit{ID: c.id.String(), Parents: t.listedParents(c)})
	}
	return out, nil
}

// touch is a walk that looks at one path.
type touch struct {
	*walk
	// entries are what trees hold at the path.
	entries map[plumbing.Hash]treeEntry
	// same tells of which commits it is said that they leave the path alone.
	same map[plumbing.Hash]bool
	// nearest is what stands for a commit of the range as a parent.
	nearest map[plumbing.Hash]ancestor
}

// ancestor is a commit, or none.
type ancestor struct {
	id   plumbing.Hash
	none bool
}

// relevant reports whether a parent belongs to the range or is its edge.
func (t *touch) relevant(id plumbing.Hash) bool { return t.within[id] || t.bottom[id] }

func (t *touch) relevantParents(c *commit) (n int) {
	for _, p := range c.parents {
		if t.relevant(p) {
			n++
		}
	}
	return n
}

// unchanged reports whether a commit leaves the path as it is in its relevant
// parents, or in all if none is relevant; a root, whether it lacks the path.
func (t *touch) unchanged(c *commit, path string) (bool, error) {
	now, err := t.entry(c.tree, path)
	if err != nil {
		return false, err
	}
	if len(c.parents) == 0 {
		return now == treeEntry{}, nil
	}
	some := t.relevantParents(c) > 0
	for _, id := range c.parents {
		if some && !t.relevant(id) {
			continue
		}
		parent, err := t.repo.commit(id)
		if err != nil {
			return false, err
		}
		before, err := t.entry(parent.tree, path)
		if err != nil {
			return false, err
		}
		if now != before {
			return false, nil
		}
	}
	return true, nil
}

func (t *touch) entry(tree plumbing.Hash, path string) (treeEntry, error) {
	if e, known := t.entries[tree]; known {
		return e, nil
	}
	e, err := t.repo.entryAt(tree, path)
	if err == nil {
		t.entries[tree] = e
	}
	return e, err
}

// standIn is what a child names as its parent in place of c: c itself if it is
// listed, else what stands for its one parent that matters.
func (t *touch) standIn(c *commit) ancestor {
	if !t.same[c.id] {
		return ancestor{id: c.id}
	}
	if len(c.parents) == 0 {
		return ancestor{none: true}
	}
	only := c.parents[0]
	if len(c.parents) > 1 {
		if t.relevantParents(c) != 1 {
			return ancestor{id: c.id}
		}
		only = c.parents[slices.IndexFunc(c.parents, t.relevant)]
	}
	return t.of(only)
}

// of is what stands for a parent; outside the range it stands for itself.
func (t *touch) of(id plumbing.Hash) ancestor {
	if !t.within[id] {
		return ancestor{id: id}
	}
	return t.nearest[id]
}

func (t *touch) listedParents(c *commit) []string {
	parents := []string{}
	for _, p := range c.parents {
		a := t.of(p)
		if text := a.id.String(); !a.none && !slices.Contains(parents, text) {
			parents = append(parents, text)
		}
	}
	return parents
}
