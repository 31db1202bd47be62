package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// untriedCommit is a commit that touches files, and what it touches.
type untriedCommit struct {
	commit string
	files  []string
}

// untried finds the commits of a change that touch files and that nothing
// tried: the evidence that the lane demands after the work came with no commit
// that follows them. What came before the switch into this lane is no work of
// it, and what a merge brings along is no work of the merge. It is asked of a
// complete change, and only where the lane demands something after the work.
func (j *judgement) untried(ctx context.Context, v *laneView) (map[string][]untriedCommit, error) {
	if !v.state.ends || len(v.state.rigour.After) == 0 {
		return nil, nil
	}
	last := map[string]small.Digest{}
	wanted := map[small.Digest]bool{}
	for _, pattern := range v.state.rigour.After {
		if done, _ := v.evidence(pattern); len(done) > 0 {
			last[pattern] = v.entries[done[len(done)-1]].Digest
			wanted[last[pattern]] = true
		}
	}
	if len(wanted) == 0 {
		return nil, nil // that there is none is told anyway
	}
	brought, err := j.brought(ctx, v.state.commits, wanted)
	if err != nil {
		return nil, err
	}
	earlier := v.state.beforeLane()
	touched := map[string][]string{}
	out := map[string][]untriedCommit{}
	for _, pattern := range v.state.rigour.After {
		if !wanted[last[pattern]] {
			continue
		}
		tried := withAncestors(v.state.commits, brought[last[pattern]])
		for _, c := range v.state.commits {
			if tried[c.ID] || earlier[c.ID] {
				continue
			}
			if _, known := touched[c.ID]; !known {
				if touched[c.ID], err = j.countedFiles(ctx, c); err != nil {
					return nil, err
				}
			}
			if files := touched[c.ID]; len(files) > 0 {
				out[pattern] = append(out[pattern], untriedCommit{commit: c.ID, files: files})
			}
		}
	}
	return out, nil
}

// countedFiles lists the files that count for a lane and that are in a commit as
// they are in none of its parents.
func (j *judgement) countedFiles(ctx context.Context, c Commit) ([]string, error) {
	changes, err := j.touchedFiles(ctx, laneChange{bases: c.Parents, head: c.ID}, j.countsForLane)
	var files []string
	for i := range changes {
		files = append(files, changes[i].Path)
	}
	return files, err
}

// countsForLane reports whether a path is one of the work that a lane is about.
func (j *judgement) countsForLane(path string) bool {
	return lane.Counts(path, &j.opts.Policy.Lanes) && !j.opts.Policy.JudgesRecord(path)
}

// beforeLane are the commits from before the change was switched into its lane.
func (s *laneState) beforeLane() map[string]bool {
	from := map[string]bool{}
	parents := map[string][]string{}
	for _, c := range s.commits {
		parents[c.ID] = c.Parents
	}
	for _, w := range s.switches {
		if w.to != s.claim.Lane || w.squashed {
			continue
		}
		for _, p := range parents[w.commit] {
			from[p] = true
		}
	}
	return withAncestors(s.commits, from)
}

// withAncestors are some commits and those that they follow, as far as they are
// among commits, which are given parents first.
func withAncestors(commits []Commit, from map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, c := range slices.Backward(commits) {
		if !from[c.ID] && !out[c.ID] {
			continue
		}
		out[c.ID] = true
		for _, p := range c.Parents {
			out[p] = true
		}
	}
	return out
}

// brought finds the commits that brought the wanted entries: those that have
// one which no parent has, in whatever log.
func (j *judgement) brought(ctx context.Context, commits []Commit, wanted map[small.Digest]bool) (map[small.Digest]map[string]bool, error) {
	var edges []Edge
	for _, c := range commits {
		edges = append(edges, EdgesOf(c.ID, c.Parents)...)
	}
	changes, err := j.history.Changes(ctx, edges)
	if err != nil {
		return nil, err
	}
	out := map[small.Digest]map[string]bool{}
	for _, c := range commits {
		own := max(len(c.Parents), 1)
		added, err := j.addedEntries(ctx, changes[:own], wanted)
		if err != nil {
			return nil, err
		}
		changes = changes[own:]
		for digest := range added {
			if out[digest] == nil {
				out[digest] = map[string]bool{}
			}
			out[digest][c.ID] = true
		}
	}
	return out, nil
}

// addedEntries are those of the wanted entries that a commit has and none of its
// parents; changes are those on its edges. A log that a parent has and nobody can
// read may have had them all.
func (j *judgement) addedEntries(ctx context.Context, changes [][]Change, wanted map[small.Digest]bool) (map[small.Digest]bool, error) {
	added := map[small.Digest]bool{}
	for _, c := range changes[0] {
		if !isLedger(c.Path) || c.New.Mode == "" || slices.ContainsFunc(changes, func(edge []Change) bool { return !touches(edge, c.Path) }) {
			continue // no log, or one that a parent has just so
		}
		if _, err := j.entriesOf(ctx, c.New, func(digest small.Digest) {
			if wanted[digest] {
				added[digest] = true
			}
		}); err != nil {
			return nil, err
		}
	}
	for _, edge := range changes {
		for _, c := range edge {
			if len(added) == 0 || !isLedger(c.Path) || c.Old.Mode == "" {
				continue
			}
			readable, err := j.entriesOf(ctx, c.Old, func(digest small.Digest) { delete(added, digest) })
			if err != nil {
				return nil, err
			}
			if !readable {
				clear(added)
			}
		}
	}
	return added, nil
}

// entriesOf calls see for each entry of a log. It reports whether the log can be
// read.
func (j *judgement) entriesOf(ctx context.Context, f File, see func(small.Digest)) (bool, error) {
	log, err := j.ledgers.read(ctx, f, nil)
	if err != nil || !log.readable() {
		return false, err
	}
	for _, e := range log.log.Entries {
		see(e.Digest)
	}
	return true, nil
}
