package logs

import (
	"context"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// DuplicateEntry is divergence/duplicate-entry: the same entry is in a log twice.
var DuplicateEntry = rule.New("divergence/duplicate-entry", finding.SeverityWarning, finding.StageHistory, rule.On(checkMergedDuplicates), rule.On(checkForkDuplicates), rule.On(checkDoubled))

func checkMergedDuplicates(m *MergedLog, r *rule.Reporter) {
	pick := ""
	if history.Uncommitted(m.Commit) {
		pick = ": " + wording.Commands("git merge --abort", "git cherry-pick .."+history.Short(m.Parent)) + "; where that stops, small-hook reconcile says what to type"
	}
	reportDuplicates(r, m.Path, m.Sides, m.Duplicates, pick)
}

func checkForkDuplicates(v *read.Fork, r *rule.Reporter) {
	reportDuplicates(r, small.Progress.Path(v.Dir), [2]string{v.TargetName, v.HeadName}, v.Duplicates, "")
}

// reportDuplicates reports pairs of entries that two sides have. pick are a colon and the commands that pick the other
// side's work, which leaves such copies out; empty if they are not known.
func reportDuplicates(r *rule.Reporter, path string, sides [2]string, pairs [][2]ledger.Entry, pick string) {
	fix := "nothing is lost, and both stay; if it is one event, say so in a new entry"
	if r.Severity == finding.SeverityError {
		fix = "no merge takes an entry away: pick the other side's work instead of merging it" + pick +
			"; or a person gives the rule another level under rules: in " + policy.File
	}
	for _, pair := range pairs {
		a, b := pair[0].Digest.String(), pair[1].Digest.String()
		key := min(a, b) + " " + max(a, b)
		r.Add(finding.Finding{
			Path: path, Line: pair[1].Pos.Line, Column: pair[1].Pos.Column, Subject: "duplicate " + key,
			Entry: finding.RefOf(pair[1]),
			Edits: []finding.EditKey{{Path: path + "\x00duplicate", From: min(a, b), To: max(a, b)}},
			Message: fmt.Sprintf("%s of %s says the same as %s of %s, at another time",
				ledger.Describe(pair[0]), sides[0], ledger.Describe(pair[1]), sides[1]),
			Fix: fix,
		})
	}
}

// MergedLog is a log that a merge brings together from two parents.
type MergedLog struct {
	rule.Place
	Path string
	// Sides name the parents, for messages.
	Sides [2]string
	// Duplicates are pairs of entries, one from each parent, that differ only in their timestamps.
	Duplicates [][2]ledger.Entry
}

// judgeMerged finds entries that two parents of a merge hold with different timestamps, if the merge holds both. If it holds only one of
// them, a timestamp was changed, which is reported on an edge.
func judgeMerged(ctx context.Context, r *run.Run, s *read.Step, path string, child *read.LedgerFile, parents []read.ParentLog) error {
	for i := range parents {
		for j := i + 1; j < len(parents); j++ {
			if len(parents[i].Ledgers) == 0 || len(parents[j].Ledgers) == 0 {
				continue
			}
			ours, theirs := parents[i].Ledgers[0], parents[j].Ledgers[0]
			own, others := ledger.Parted(ours.Log.Ledger, theirs.Log.Ledger)
			logs := r.Source.Logs(path)
			pairs, err := ledger.Duplicates(own, others, logs.Records(ctx, ours.File), logs.Records(ctx, theirs.File))
			if err != nil {
				return err
			}
			m := &MergedLog{Place: rule.Place{Commit: s.ID, Parent: s.Parents[j]}, Path: path}
			m.Sides = [2]string{SideName(i, s.Parents[i]), SideName(j, s.Parents[j])}
			for _, pair := range pairs {
				at := func(wanted ledger.Entry) int {
					return slices.IndexFunc(child.Log.Entries, func(e ledger.Entry) bool { return e.Digest == wanted.Digest })
				}
				if a, b := at(pair[0]), at(pair[1]); a >= 0 && b >= 0 {
					m.Duplicates = append(m.Duplicates, [2]ledger.Entry{child.Log.Entries[a], child.Log.Entries[b]})
				}
			}
			if len(m.Duplicates) > 0 {
				if err := r.Collector.Judge(ctx, m); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
