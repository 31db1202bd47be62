package gate

import (
	"context"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// untriedCommit is a commit that touches files, and what it touches.
type untriedCommit struct {
	commit string
	files  []string
}

// bringers finds the commits that brought the evidence which the lane demands, and
// the last entries of what was worked on. It is asked of a complete change, and
// only where the lane demands something.
func (j *judgement) bringers(ctx context.Context, v *laneView) (map[small.Digest]map[string]bool, error) {
	rigour := v.state.rigour
	if !v.state.ends || len(rigour.Before)+len(rigour.After) == 0 {
		return nil, nil
	}
	wanted := map[small.Digest]bool{}
	for _, pattern := range slices.Concat(rigour.Before, rigour.After) {
		done, _ := v.evidence(pattern)
		for _, place := range done {
			wanted[v.entries[place].Digest] = true
		}
	}
	if len(wanted) == 0 {
		return nil, nil // that there is none is told anyway
	}
	for _, t := range slices.Concat(v.tasks(), v.allTasks()) {
		wanted[v.entries[t.last].Digest] = true
	}
	return j.brought(ctx, v.state.commits, wanted)
}

// untried finds the commits of a change that touch files and that nothing
// tried: the evidence that the lane demands after the work came with no commit
// that follows them. What came before a switch into the lane is tried as well, and
// what a merge brings along is no work of the merge.
func (j *judgement) untried(ctx context.Context, v *laneView) (map[string][]untriedCommit, error) {
	if len(v.brought) == 0 {
		return nil, nil
	}
	touched := map[string][]string{}
	out := map[string][]untriedCommit{}
	for _, pattern := range v.state.rigour.After {
		done, _ := v.evidence(pattern)
		if len(done) == 0 {
			continue
		}
		tried := withAncestors(v.state.commits, v.brought[v.entries[done[len(done)-1]].Digest])
		for _, c := range v.state.commits {
			if tried[c.ID] {
				continue
			}
			if _, known := touched[c.ID]; !known {
				var err error
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
// they are in none of its parents. Where a merge puts together what both sides did
// to a file, that is no work of its own.
func (j *judgement) countedFiles(ctx context.Context, c Commit) ([]string, error) {
	changes, sides, err := j.touchedBetween(ctx, laneChange{bases: c.Parents, head: c.ID}, j.countsForLane)
	if err != nil {
		return nil, err
	}
	var files []string
	for i := range changes {
		changedIn := 0
		for _, side := range sides {
			if side[changes[i].Path] {
				changedIn++
			}
		}
		if changedIn < 2 {
			files = append(files, changes[i].Path)
		}
	}
	return files, nil
}

// countsForLane reports whether a path is one of the work that a lane is about.
func (j *judgement) countsForLane(path string) bool {
	return lane.Counts(path, &j.opts.Policy.Lanes) && !j.opts.Policy.JudgesRecord(path)
}

// withDescendants are some commits and those of the others that follow them.
// commits are given parents first.
func withDescendants(commits []Commit, from map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, c := range commits {
		out[c.ID] = from[c.ID] || slices.ContainsFunc(c.Parents, func(p string) bool { return out[p] })
	}
	return out
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

// brought finds the commits that brought the wanted entries, which no base has:
// those that have one in some log, and follow no commit of the change that has it.
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
	for digest := range wanted {
		out[digest] = map[string]bool{}
	}
	held := map[string]map[small.Digest]bool{} // by commit
	for _, c := range commits {
		own := max(len(c.Parents), 1)
		has := map[small.Digest]bool{}
		for _, p := range c.Parents {
			maps.Copy(has, held[p])
		}
		for _, change := range slices.Concat(changes[:own]...) {
			if len(has) == len(wanted) || !isLedger(change.Path) || !j.judges(change.Path) || change.New.Mode == "" {
				continue
			}
			// The parent's was mostly read just now, and most of this one is in it.
			earlier, err := j.ledgers.read(ctx, change.Old, nil)
			if err != nil {
				return nil, err
			}
			if err := j.entriesOf(ctx, change.New, earlier, func(digest small.Digest) {
				if wanted[digest] && !has[digest] {
					has[digest], out[digest][c.ID] = true, true
				}
			}); err != nil {
				return nil, err
			}
		}
		held[c.ID], changes = has, changes[own:]
	}
	return out, nil
}

// entriesOf calls see for each entry of a log; for none of one that cannot be
// read. earlier is a log that this one may go on from, or nil.
func (j *judgement) entriesOf(ctx context.Context, f File, earlier *ledgerFile, see func(small.Digest)) error {
	log, err := j.ledgers.read(ctx, f, earlier)
	if err != nil || !log.readable() {
		return err
	}
	for _, e := range log.log.Entries {
		see(e.Digest)
	}
	return nil
}
