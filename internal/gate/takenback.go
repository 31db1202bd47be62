package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// undoing are the edits of a branch that no other has taken over: a forced push
// may take them back. The zero undoing has none.
type undoing struct {
	// from maps an entry's version to those from which commits rewrote it.
	from map[editKey][]small.Digest
	// before are the logs, by path, as they were before they were rewritten.
	before map[string][][]small.Digest
}

// takenBack gathers the edits of the commits that a branch had and the default
// branch lacks. Of the default branch nothing can be taken back.
func (j *judgement) takenBack(ctx context.Context, u Update) (*undoing, error) {
	if u.Target.ID == "" || u.Old == "" {
		return nil, nil
	}
	commits, err := j.history.Commits(ctx, []string{u.Old}, []string{u.Target.ID})
	if err != nil {
		return nil, err
	}
	var edges []Edge
	for _, c := range commits {
		edges = append(edges, EdgesOf(c.ID, c.Parents)...)
	}
	changes, err := j.history.Changes(ctx, edges)
	if err != nil {
		return nil, err
	}
	out := &undoing{from: map[editKey][]small.Digest{}, before: map[string][][]small.Digest{}}
	for _, c := range commits {
		own := len(EdgesOf(c.ID, c.Parents))
		if err := j.noteRewrites(ctx, out, node{id: c.ID, parents: c.Parents}, changes[:own]); err != nil {
			return nil, err
		}
		changes = changes[own:]
	}
	return out, nil
}

func (j *judgement) noteRewrites(ctx context.Context, out *undoing, n node, changes [][]Change) error {
	s, err := j.step(ctx, n, changes)
	if err != nil {
		return err
	}
	for _, path := range pathsOf(changes, j.isLog) {
		child, parents, err := j.sides(ctx, s, path)
		if err != nil {
			return err
		}
		if !child.readable() {
			continue
		}
		var held map[small.Digest]bool // no product of a rewrite: some parent has it
		for i, p := range parents {
			for k, before := range p.ledgers {
				e, err := j.compare(ctx, s.node, path, p.paths[k], before, child, parents, i)
				if err != nil {
					return err
				}
				if e == nil || e.relation != rewritten && (e.relation != interleaved || e.reconciled()) {
					continue
				}
				if held == nil {
					held = heldBy(parents, -1)
				}
				out.note(e, held)
			}
		}
	}
	return nil
}

func (u *undoing) note(e *edgeView, held map[small.Digest]bool) {
	u.before[e.path] = append(u.before[e.path], digestsOf(e.p))
	for _, x := range e.edits {
		if x.before >= 0 && x.after >= 0 && !held[e.c.Entries[x.after].Digest] {
			key := editKey{path: e.path, to: e.c.Entries[x.after].Digest.String()}
			u.from[key] = append(u.from[key], e.p.Entries[x.before].Digest)
		}
	}
}

// takes reports whether the difference between a branch's old log and its new one
// is that edits are taken back: each old entry is there, or the version from
// which it was rewritten, and all in order, or in the order of a log before it
// was rewritten.
func (u *undoing) takes(e *edgeView) bool {
	if u == nil || e.relation != rewritten {
		return false
	}
	now := digestsOf(e.c)
	there := map[small.Digest]bool{}
	for _, d := range now {
		there[d] = true
	}
	var kept []small.Digest
	for _, d := range digestsOf(e.p) {
		kept = append(kept, u.original(e.path, d, there))
	}
	if subsequence(kept, now) != nil {
		return true
	}
	return slices.ContainsFunc(u.before[e.path], func(before []small.Digest) bool {
		if subsequence(before, now) == nil {
			return false
		}
		old := make(map[small.Digest]bool, len(before))
		for _, d := range before {
			old[d] = true
		}
		rest := slices.DeleteFunc(slices.Clone(kept), func(d small.Digest) bool { return old[d] })
		return subsequence(rest, now) != nil
	})
}

// original is the version of an entry that is there, or the entry itself if none
// is: from one rewrite to the one before it.
func (u *undoing) original(path string, d small.Digest, there map[small.Digest]bool) small.Digest {
	seen := map[small.Digest]bool{d: true}
	for next := []small.Digest{d}; len(next) > 0; next = next[1:] {
		if there[next[0]] {
			return next[0]
		}
		for _, from := range u.from[editKey{path: path, to: next[0].String()}] {
			if !seen[from] {
				seen[from] = true
				next = append(next, from)
			}
		}
	}
	return d
}
