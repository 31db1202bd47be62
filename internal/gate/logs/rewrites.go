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

// rewrites says how the commits that a branch has and the default branch lacks changed older entries. A forced push may undo these changes.
type rewrites struct {
	// earlier maps a rewritten version of an entry to the versions that it replaced.
	earlier map[small.Digest][]small.Digest
	// recorded holds the entries with which the branch began and those that its commits appended, even if they were rewritten later.
	recorded map[small.Digest]bool
	// inserted holds the entries that commits put before older ones.
	inserted map[small.Digest]bool
	// oldLogs are the logs as they were before a commit rewrote them.
	oldLogs [][]small.Digest
}

// findRewrites finds the rewrites by the commits of a branch. It returns nil for a new branch, and for the default branch, where no rewrite may be
// undone.
func findRewrites(ctx context.Context, r *run.Run, u history.Update) (*rewrites, error) {
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
	defer r.Source.SaveProfiles()()
	out := &rewrites{earlier: map[small.Digest][]small.Digest{}, recorded: map[small.Digest]bool{}, inserted: map[small.Digest]bool{}}
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

// noteRewrites notes which entries of one commit's log are rewrites and which are recorded. listed holds the branch's commits.
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
				out.noteEdge(e, made)
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

// noteEdge notes the rewrites on one edge. It adds the entries that they made to made.
func (r *rewrites) noteEdge(e *LogChange, made map[small.Digest]bool) {
	r.oldLogs = append(r.oldLogs, ledger.DigestsOf(e.Old))
	insert := func(index int) {
		d := e.New.Entries[index].Digest
		made[d], r.inserted[d] = true, true
	}
	for _, index := range e.Inserted {
		insert(index)
	}
	for _, x := range e.Edits {
		if !x.Waived && x.Kind != ledger.EditReordered && x.OldIndex >= 0 && x.NewIndex >= 0 {
			to := e.New.Entries[x.NewIndex].Digest
			made[to] = true
			r.earlier[to] = append(r.earlier[to], e.Old.Entries[x.OldIndex].Digest)
		}
	}
}

// onlyUndone reports whether a branch's new log c differs from its old log p only because rewrites were undone: c has each entry of p, or the entry
// as it was before a rewrite, in the order of p or in the order before a rewrite. c may lack entries that a commit inserted.
func (r *rewrites) onlyUndone(p, c *ledger.Ledger) bool {
	if r == nil {
		return false
	}
	now := ledger.DigestsOf(c)
	entriesNow := map[small.Digest]bool{}
	for _, d := range now {
		entriesNow[d] = true
	}
	var kept []small.Digest
	for _, d := range ledger.DigestsOf(p) {
		switch {
		case entriesNow[d]:
		case r.inserted[d] && !r.recorded[d]:
			continue
		default:
			d = r.originalOf(d, entriesNow)
		}
		kept = append(kept, d)
	}
	if ledger.Subsequence(kept, now) != nil {
		return true
	}
	return slices.ContainsFunc(r.oldLogs, func(before []small.Digest) bool {
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

// originalOf follows an entry's rewrites back to the recorded version. It returns that version if the new log has it; otherwise the entry itself.
func (r *rewrites) originalOf(d small.Digest, entriesNow map[small.Digest]bool) small.Digest {
	seen := map[small.Digest]bool{d: true}
	for next := []small.Digest{d}; len(next) > 0; next = next[1:] {
		if r.recorded[next[0]] {
			if entriesNow[next[0]] {
				return next[0]
			}
			continue
		}
		for _, from := range r.earlier[next[0]] {
			if !seen[from] {
				seen[from] = true
				next = append(next, from)
			}
		}
	}
	return d
}
