package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// undoing are the rewrites of a branch that the default branch lacks: a forced push
// may take them back.
type undoing struct {
	// from maps a version of an entry to those from which commits rewrote it.
	from map[editKey][]small.Digest
	// recorded are entries that some commit recorded as new: these are nobody's
	// rewrite, whatever became of them later.
	recorded map[editKey]bool
	// before are the logs, by path, as they were before they were rewritten.
	before map[string][]*small.Ledger
}

// takenBack gathers the rewrites of the commits that a branch had and the default
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
	listed := map[string]bool{}
	for _, c := range commits {
		edges = append(edges, EdgesOf(c.ID, c.Parents)...)
		listed[c.ID] = true
	}
	changes, err := j.history.Changes(ctx, edges)
	if err != nil {
		return nil, err
	}
	out := &undoing{from: map[editKey][]small.Digest{}, recorded: map[editKey]bool{}, before: map[string][]*small.Ledger{}}
	for _, c := range commits {
		own := len(EdgesOf(c.ID, c.Parents))
		s, err := j.step(ctx, node{id: c.ID, parents: c.Parents}, changes[:own])
		if err != nil {
			return nil, err
		}
		for _, path := range s.logs(j) {
			if err := j.noteRewrites(ctx, out, s, path, listed); err != nil {
				return nil, err
			}
		}
		changes = changes[own:]
	}
	return out, nil
}

// noteRewrites notes what a commit did to a log: which of the entries that no
// parent has are new versions, and which are new.
func (j *judgement) noteRewrites(ctx context.Context, out *undoing, s *step, path string, listed map[string]bool) error {
	child, parents, err := j.sides(ctx, s, path)
	if err != nil || !child.readable() {
		return err
	}
	held := map[small.Digest]bool{}
	rewrites := map[small.Digest]bool{}
	for i, p := range parents {
		for k, before := range p.ledgers {
			for _, e := range before.log.Entries {
				held[e.Digest] = true
				if !listed[p.id] {
					out.recorded[editKey{path: path, to: e.Digest.String()}] = true
				}
			}
			e, err := j.compare(ctx, s.node, path, p.paths[k], before, child, parents, i)
			if err != nil {
				return err
			}
			if e != nil && (e.relation == rewritten || e.relation == interleaved && !e.reconciled()) {
				out.note(e, rewrites)
			}
		}
	}
	for _, e := range child.log.Entries {
		if !held[e.Digest] && !rewrites[e.Digest] {
			out.recorded[editKey{path: path, to: e.Digest.String()}] = true
		}
	}
	return nil
}

// logs lists the paths of the logs that a step changes.
func (s *step) logs(j *judgement) []string {
	var paths []string
	for _, edge := range s.changes {
		for _, c := range edge {
			if j.isLog(c.Path) && !slices.Contains(paths, c.Path) {
				paths = append(paths, c.Path)
			}
		}
	}
	return paths
}

// note notes the rewrites on one edge.
func (u *undoing) note(e *edgeView, rewrites map[small.Digest]bool) {
	u.before[e.path] = append(u.before[e.path], e.p)
	for _, x := range e.edits {
		if x.before < 0 || x.after < 0 || x.kind == editReordered {
			continue
		}
		to := e.c.Entries[x.after].Digest
		rewrites[to] = true
		key := editKey{path: e.path, to: to.String()}
		u.from[key] = append(u.from[key], e.p.Entries[x.before].Digest)
	}
}

// takes reports whether the difference between a branch's old log and its new one
// is that rewrites are taken back: each old entry is there, or the version that
// was rewritten, and all in order, or in the order of a log before it was
// rewritten.
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
		if !there[d] {
			d = u.original(e.path, d, there)
		}
		kept = append(kept, d)
	}
	if subsequence(kept, now) != nil {
		return true
	}
	return slices.ContainsFunc(u.before[e.path], func(before *small.Ledger) bool {
		rest := slices.DeleteFunc(slices.Clone(kept), func(d small.Digest) bool {
			return slices.ContainsFunc(before.Entries, func(e small.Entry) bool { return e.Digest == d })
		})
		return subsequence(digestsOf(before), now) != nil && subsequence(rest, now) != nil
	})
}

// original is the version of an entry that was recorded as new and is there, from
// one rewrite to the one before it; the entry itself if there is none.
func (u *undoing) original(path string, d small.Digest, there map[small.Digest]bool) small.Digest {
	seen := map[small.Digest]bool{d: true}
	for next := []small.Digest{d}; len(next) > 0; next = next[1:] {
		key := editKey{path: path, to: next[0].String()}
		if u.recorded[key] {
			if there[next[0]] {
				return next[0]
			}
			continue
		}
		for _, from := range u.from[key] {
			if !seen[from] {
				seen[from] = true
				next = append(next, from)
			}
		}
	}
	return d
}
