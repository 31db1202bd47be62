package divergence

import (
	"context"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// checkMergedDuplicates reports pairs of entries, one from each of two parents, that differ only in their timestamps, if the merge has both. If it
// has only one, the comparison with the other parent shows a changed timestamp, which another rule reports.
func checkMergedDuplicates(ctx context.Context, m *logs.CommitLog, r *rule.Reporter) error {
	if !read.IsProgress(m.Path) {
		return nil
	}
	for i := range m.Parents {
		for j := i + 1; j < len(m.Parents); j++ {
			if len(m.Parents[i].Ledgers) == 0 || len(m.Parents[j].Ledgers) == 0 {
				continue
			}
			both, err := keptDuplicates(ctx, m, m.Parents[i].Ledgers[0], m.Parents[j].Ledgers[0])
			if err != nil {
				return err
			}
			sides, pick := [2]string{logs.SideName(i, m.Step.Parents[i]), logs.SideName(j, m.Step.Parents[j])}, ""
			if history.Uncommitted(m.Commit) {
				pick = ": " + wording.Commands(wording.AbortMerge, "git cherry-pick .."+history.Short(m.Step.Parents[j])) + "; where that stops, small-hook reconcile says what to type"
			}
			severity := finding.SeverityNote // what is merged stays so
			if history.Uncommitted(m.Commit) {
				severity = finding.SeverityWarning
			}
			reportDuplicates(r, m.Path, m.Step.Parents[j], sides, both, pick, severity)
		}
	}
	return nil
}

// keptDuplicates returns the pairs of entries of two parents that differ only in their timestamps, if the merge has both.
func keptDuplicates(ctx context.Context, m *logs.CommitLog, ours, theirs *read.LedgerFile) (both []ledger.Duplicate, err error) {
	own, others := ledger.OwnEntries(ours.Log.Ledger, theirs.Log.Ledger)
	records := m.Run.Source.ReaderOf(m.Path)
	pairs, err := ledger.Duplicates(own, others, records.Records(ctx, ours.File), records.Records(ctx, theirs.File))
	if err != nil {
		return nil, err
	}
	entries := m.Child.Log.Entries
	for _, pair := range pairs {
		at := func(wanted ledger.Entry) int {
			return slices.IndexFunc(entries, func(e ledger.Entry) bool { return e.Digest == wanted.Digest })
		}
		if a, b := at(pair.Ours), at(pair.Theirs); a >= 0 && b >= 0 {
			both = append(both, ledger.Duplicate{Ours: entries[a], Theirs: entries[b], Text: pair.Text})
		}
	}
	return both, nil
}

func checkForkDuplicates(v *read.Fork, r *rule.Reporter) {
	reportDuplicates(r, small.Progress.Path(v.Dir), v.Parent, [2]string{v.TargetName, v.HeadName}, v.Duplicates, "", finding.SeverityWarning)
}

// reportDuplicates reports pairs of entries of two sides. parent is the commit of the second side. pick ends the fix with a colon and the commands
// that cherry-pick the second side's commits; empty if they are not known. usual is the severity if the configuration sets none.
func reportDuplicates(r *rule.Reporter, path, parent string, sides [2]string, pairs []ledger.Duplicate, pick string, usual finding.Severity) {
	fix := "nothing is lost, and both stay; if it is one event, say so in a new entry"
	if r.Severity == finding.SeverityError {
		fix = "no merge takes an entry away: pick the other side's work instead of merging it" + pick +
			"; or a person gives the rule another level under rules: in " + policy.File
	}
	for _, pair := range pairs {
		a, b := pair.Ours.Digest.String(), pair.Theirs.Digest.String()
		key := min(a, b) + " " + max(a, b)
		first, second := ledger.DescribeBoth(pair.Ours, pair.Theirs)
		r.Add(finding.Finding{
			Severity: usual, Commit: r.Commit, Parent: parent, Path: path, Line: pair.Theirs.Pos.Line, Column: pair.Theirs.Pos.Column, Subject: "duplicate " + key,
			Entry:   finding.RefOf(pair.Theirs),
			Edits:   []finding.EditKey{{Path: path + "\x00duplicate", From: min(a, b), To: max(a, b)}},
			Message: fmt.Sprintf("%s of %s says the same as %s of %s, at another time%s", first, sides[0], second, sides[1], withText(pair.Text)),
			Fix:     fix,
		})
	}
}

// withText returns a colon and the text that two entries share, to end a message; empty if there is none.
func withText(text string) string {
	if text == "" {
		return ""
	}
	return ": " + wording.Quote(text)
}
