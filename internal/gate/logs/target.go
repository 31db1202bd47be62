package logs

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// findBeforeTarget sets BeforeTarget for a merge: if the branch is squashed, these entries are inserted before the target's. It looks only at
// configured logs with an order, and only if a target is known.
func findBeforeTarget(ctx context.Context, r *run.Run, s *read.Step, path string, child *read.LedgerFile, parents []read.ParentLog, edges []*LogChange) error {
	stanza := r.Source.Policy.LogFor(path)
	if stanza == nil || stanza.Free() || r.Source.IsFileEntry(path) || len(parents) < 2 || len(edges) == 0 {
		return nil
	}
	target, err := r.Target(ctx)
	if err != nil || target.ID == "" {
		return err
	}
	sameAsChild := func(l *read.LedgerFile) bool {
		return slices.Equal(ledger.DigestsOf(l.Log.Ledger), ledger.DigestsOf(child.Log.Ledger))
	}
	if slices.ContainsFunc(parents, func(p read.ParentLog) bool { return slices.ContainsFunc(p.Ledgers, sameAsChild) }) {
		return nil // a parent has the same log: the merge did not put it together
	}
	targetLogs, err := readTargetLogs(ctx, r, target.ID, path, parents)
	if err != nil || len(targetLogs) == 0 {
		return err
	}
	past, err := r.Source.EntriesBeforeSince(ctx, stanza, commitOrParents(r, s.Commit), path)
	if err != nil {
		return err
	}
	for _, log := range targetLogs {
		rewritten := r.Source.EquivalenceByWaivers(path, path).ApplyRewrite(log.Log.Ledger, child.Log.Ledger)
		for _, index := range entriesBefore(rewritten, child.Log.Ledger) {
			if !past[child.Log.Entries[index].Digest] && !slices.Contains(edges[0].Misplaced, index) && !slices.Contains(edges[0].BeforeTarget, index) {
				edges[0].BeforeTarget = append(edges[0].BeforeTarget, index)
			}
		}
	}
	return nil
}

// entriesBefore returns the indexes of the entries of a merge's log that the target lacks and that stand before an entry of the target.
func entriesBefore(target, merged *ledger.Ledger) []int {
	has := markEntriesOf(target, merged)
	var lacks []int
	before := 0
	for i := range merged.Entries {
		if has[i] {
			before = len(lacks)
		} else {
			lacks = append(lacks, i)
		}
	}
	return lacks[:before]
}

// markEntriesOf returns, for each entry of a merge's log, whether it is one of the target's. If the log has the target's entries in order, it takes the
// first entries that are equal to them in this order: another equal one between them is not the target's.
func markEntriesOf(target, merged *ledger.Ledger) []bool {
	has := make([]bool, merged.Len())
	if indexes := ledger.Subsequence(ledger.DigestsOf(target), ledger.DigestsOf(merged)); indexes != nil {
		for _, i := range indexes {
			has[i] = true
		}
		return has
	}
	unmatched := map[small.Digest]int{}
	for _, e := range target.Entries {
		unmatched[e.Digest]++
	}
	for i, e := range merged.Entries {
		if unmatched[e.Digest] > 0 {
			unmatched[e.Digest]--
			has[i] = true
		}
	}
	return has
}

// readTargetLogs reads the target's version of a log, at its path or at one from which it moved on an edge. If the target has none that can be read, it
// reads the last readable versions before it.
func readTargetLogs(ctx context.Context, r *run.Run, target, path string, parents []read.ParentLog) ([]*read.LedgerFile, error) {
	paths := []string{path}
	for _, p := range parents {
		paths = append(paths, p.Paths...)
	}
	for _, at := range paths {
		if log, err := r.Source.LogAt(ctx, target, at); err != nil || log.Readable() {
			return []*read.LedgerFile{log}, err
		}
	}
	return r.Source.LastReadable(ctx, target, path)
}
