package logs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
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
	targetLogs, err := readTargetLogs(ctx, r, target.ID, path, parents)
	if err != nil {
		return err
	}
	targetLogs = slices.DeleteFunc(targetLogs, func(l *read.LedgerFile) bool {
		return child.Log.Extends(l.Log.Ledger) || l.Log.Extends(child.Log.Ledger) // as in most merges
	})
	if len(targetLogs) == 0 {
		return nil
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
	if len(edges[0].BeforeTarget) > 0 {
		edges[0].TargetFix, err = fixPick(ctx, r, s, path, parents, targetLogs)
	}
	if errors.Is(err, history.ErrLacking) { // in a shallow clone the usual fix stays
		return nil
	}
	return err
}

// fixPick returns the fix for a merge of a branch that took over an entry of the target's after one that the target lacks, for example with git
// cherry-pick: no merge of that branch can have the target's entries first. The fix is empty if the branch did not.
func fixPick(ctx context.Context, r *run.Run, s *read.Step, path string, parents []read.ParentLog, targetLogs []*read.LedgerFile) (string, error) {
	target, err := r.Target(ctx)
	if err != nil {
		return "", err
	}
	var sides []string
	for _, p := range parents {
		sides = append(sides, p.ID)
	}
	commits, err := r.Source.Commits(ctx, sides, []string{target.ID})
	if err != nil {
		return "", err
	}
	for _, c := range commits {
		picked, others, err := pickedFrom(ctx, r, c, path, targetLogs)
		if err != nil {
			return "", err
		}
		if len(picked) == 0 {
			continue
		}
		fix := fmt.Sprintf("%s took over %s from the target, after an entry that the target lacks; the merge brings it anyway. ", history.Short(c.ID), ledger.DescribeAll(picked))
		situation := r.Situation(c.ID)
		if len(others) == 0 && len(c.Parents) < 2 {
			situation.Mend = func(path string, files []string) string {
				return remedy.MendCommand(situation.Standing, remedy.Mend(path, c.ID, files...)+" --discard-new")
			}
			fix += situation.Undo(path, nil)
		} else {
			fix += situation.Correct("Take it out", path)
		}
		if history.Uncommitted(s.ID) {
			fix = wording.Commands(wording.AbortMerge) + "; " + fix
		}
		return fix, nil
	}
	return "", nil
}

// pickedFrom returns the entries that a commit added to a log after an entry that the target lacks: those that the target has, and the others. It
// returns none if all stand where they may.
func pickedFrom(ctx context.Context, r *run.Run, c history.Commit, path string, targetLogs []*read.LedgerFile) (picked, others []ledger.Entry, err error) {
	log, err := r.Source.LogAt(ctx, c.ID, path)
	if err != nil || !log.Readable() {
		return nil, nil, err
	}
	known, targetHas := map[small.Digest]bool{}, map[small.Digest]bool{}
	for _, p := range c.Parents {
		before, err := r.Source.LogAt(ctx, p, path)
		if err != nil {
			return nil, nil, err
		}
		if before.Readable() {
			maps.Copy(known, ledger.DigestSet(before.Log.Ledger))
		}
	}
	misplaced := false
	for _, t := range targetLogs {
		maps.Copy(targetHas, ledger.DigestSet(t.Log.Ledger))
		misplaced = misplaced || len(entriesBefore(t.Log.Ledger, log.Log.Ledger)) > 0
	}
	for _, e := range log.Log.Entries {
		switch {
		case known[e.Digest] || !misplaced:
		case targetHas[e.Digest]:
			picked = append(picked, e)
		default:
			others = append(others, e)
		}
	}
	return picked, others, nil
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
