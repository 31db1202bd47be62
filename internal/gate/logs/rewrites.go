package logs

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// rewrites are what a branch's commits that the default branch lacks did to entries. A forced push may take them
// back.
type rewrites struct {
	// from maps a version of an entry to the versions that commits rewrote to it.
	from map[small.Digest][]small.Digest
	// recorded are entries that some commit appended: they are not rewrites, whatever became of them later.
	recorded map[small.Digest]bool
	// inserted are entries that commits put before older ones.
	inserted map[small.Digest]bool
	// before are the logs before they were rewritten.
	before [][]small.Digest
}

// rewritesOf gathers what the commits of a branch rewrote. On the default branch nothing can be taken back.
func rewritesOf(ctx context.Context, r *run.Run, u history.Update) (*rewrites, error) {
	if u.Target.ID == "" || u.Old == "" {
		return nil, nil
	}
	commits, err := r.Source.Commits(ctx, []string{u.Old}, []string{u.Target.ID})
	if err != nil {
		return nil, err
	}
	listed := map[string]bool{}
	for _, c := range commits {
		listed[c.ID] = true
	}
	changes, err := r.Source.ChangesOf(ctx, commits)
	if err != nil {
		return nil, err
	}
	defer r.Source.Keep()()
	out := &rewrites{from: map[small.Digest][]small.Digest{}, recorded: map[small.Digest]bool{}, inserted: map[small.Digest]bool{}}
	for i, c := range commits {
		s, err := r.Source.NewStep(ctx, c, changes[i])
		if err != nil {
			return nil, err
		}
		for _, path := range history.PathsOf(s.Changes, r.Source.IsLog) {
			if err := noteRewrites(ctx, r, out, s, path, listed); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// noteRewrites notes which of the entries that no parent has are rewrites, and which are new.
func noteRewrites(ctx context.Context, r *run.Run, out *rewrites, s *read.Step, path string, listed map[string]bool) error {
	child, parents, err := r.Source.ReadVersions(ctx, s, path)
	if err != nil || !child.Readable() {
		return err
	}
	made := map[small.Digest]bool{}
	for i, p := range parents {
		for k, before := range p.Ledgers {
			if !listed[p.ID] {
				for _, e := range before.Log.Entries {
					out.recorded[e.Digest] = true
				}
			}
			e, err := compareLogs(ctx, r, s.Commit, path, p.Paths[k], before, child, parents, i)
			if err != nil {
				return err
			}
			if e != nil && (e.Relation == ledger.Rewritten || e.Relation == ledger.Interleaved && !e.Reconciled()) {
				out.note(e, made)
			}
		}
	}
	held := read.ParentDigests(parents, -1)
	for _, e := range child.Log.Entries {
		if !held[e.Digest] && !made[e.Digest] {
			out.recorded[e.Digest] = true
		}
	}
	return nil
}

// note notes the rewrites on one edge; made collects the entries that they made.
func (r *rewrites) note(e *LogChange, made map[small.Digest]bool) {
	r.before = append(r.before, ledger.DigestsOf(e.Old))
	insert := func(index int) {
		d := e.New.Entries[index].Digest
		made[d], r.inserted[d] = true, true
	}
	for _, index := range e.Inserted {
		insert(index)
	}
	for _, x := range e.Edits {
		switch {
		case x.Waived:
		case x.Kind != ledger.EditReordered && x.OldIndex >= 0 && x.NewIndex >= 0:
			to := e.New.Entries[x.NewIndex].Digest
			made[to] = true
			r.from[to] = append(r.from[to], e.Old.Entries[x.OldIndex].Digest)
		}
	}
}

// revertedIn reports whether a branch's new log differs from its old one only in that rewrites were taken back: it
// has each old entry or the version before it was rewritten, in the same order or the order before the rewrite.
// Inserted entries may be gone.
func (r *rewrites) revertedIn(p, c *ledger.Ledger) bool {
	if r == nil {
		return false
	}
	now := ledger.DigestsOf(c)
	there := map[small.Digest]bool{}
	for _, d := range now {
		there[d] = true
	}
	var kept []small.Digest
	for _, d := range ledger.DigestsOf(p) {
		switch {
		case there[d]:
		case r.inserted[d] && !r.recorded[d]:
			continue
		default:
			d = r.original(d, there)
		}
		kept = append(kept, d)
	}
	if ledger.Subsequence(kept, now) != nil {
		return true
	}
	return slices.ContainsFunc(r.before, func(before []small.Digest) bool {
		if ledger.Subsequence(before, now) == nil {
			return false
		}
		old := make(map[small.Digest]bool, len(before))
		for _, d := range before {
			old[d] = true
		}
		rest := slices.DeleteFunc(slices.Clone(kept), func(d small.Digest) bool { return old[d] })
		return ledger.Subsequence(rest, now) != nil
	})
}

// original follows an entry's rewrites back to the version that was appended, if it is there; otherwise it is the
// entry itself.
func (r *rewrites) original(d small.Digest, there map[small.Digest]bool) small.Digest {
	seen := map[small.Digest]bool{d: true}
	for next := []small.Digest{d}; len(next) > 0; next = next[1:] {
		if r.recorded[next[0]] {
			if there[next[0]] {
				return next[0]
			}
			continue
		}
		for _, from := range r.from[next[0]] {
			if !seen[from] {
				seen[from] = true
				next = append(next, from)
			}
		}
	}
	return d
}
