package appendonly

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

func checkTimestampMigrated(e *logs.LogChange, r *rule.Reporter) {
	for _, x := range e.OfKind(ledger.EditTimestampMigrated) {
		f := e.Finding(x)
		f.Message = fmt.Sprintf("the timestamp of %s was rewritten; the instant is the same to the microsecond", ledger.Describe(e.Old.Entries[x.OldIndex]))
		f.Fix = migrationFix(e)
		r.Add(f)
	}
}

// migrationFix says how to undo a migration of timestamps, or how to waive it: without the migration the protocol's own program refuses to append.
func migrationFix(e *logs.LogChange) string {
	s := e.Situation()
	if s.NoWaiver {
		return e.UsualFix()
	}
	const waive = "a person who wants the migration waives it before it is committed, and the waiver counts once the target branch has it"
	if e.Fix != "" || e.IsMerge || !history.Uncommitted(s.Commit) {
		return e.UsualFix() + "; " + waive + " (small-hook waive --rule append-only/timestamp-migrated)"
	}
	stage := "git add -- " + wording.TopPath(e.Path) // after git commit -a was rejected, the index lacks the migration, which waive looks for there
	return waive + ", so push the waiver before you commit the migration. " +
		wording.Commands(stage, `small-hook waive --rule append-only/timestamp-migrated --reason "small progress migrate"`,
			"git add -- :/.small-gate.yml", `git commit -m "Waive the migration of timestamps" -- :/.small-gate.yml`, "git push") +
		". Or, to accept the log with a baseline instead, migrate it first and make the baseline after that"
}

// checkTaskReassigned reports entries that were given another task. Tools do this to entries of tasks that the plan no longer has. If the log ends with
// a reset, the run is over, and the fix also begins a new one.
func checkTaskReassigned(e *logs.LogChange, r *rule.Reporter) {
	for _, x := range e.OfKind(ledger.EditTaskReassigned) {
		f := e.Finding(x)
		f.Message = fmt.Sprintf("%s was reassigned to %q", ledger.Describe(e.Old.Entries[x.OldIndex]), x.Changes[0].To)
		f.Fix = e.UsualFix()
		if e.New.EndsWithReset() {
			f.Fix = e.UndoAndBeginRunFix()
		}
		r.Add(f)
	}
}

// reportEdits makes a check that reports the edits of one kind.
func reportEdits(kind ledger.EditKind, words func(*logs.LogChange, ledger.Edit) string) func(*logs.LogChange, *rule.Reporter) {
	return func(e *logs.LogChange, r *rule.Reporter) {
		for _, x := range e.OfKind(kind) {
			f := e.Finding(x)
			f.Message = words(e, x)
			f.Fix = e.UsualFix()
			r.Add(f)
		}
	}
}

// checkDeleted reports entries that are gone. Those that a merge loses are reported by divergence/lost-entry.
func checkDeleted(ctx context.Context, e *logs.LogChange, r *rule.Reporter) error {
	if e.IsMerge {
		return nil
	}
	for _, x := range e.OfKind(ledger.EditDeleted) {
		f := e.Finding(x)
		f.Message = ledger.Describe(e.Old.Entries[x.OldIndex]) + " was deleted"
		to, err := e.RenamedTo(ctx)
		if err != nil {
			return err
		}
		if to != "" {
			f.Message += "; its content is in " + wording.Printable(to) + " now"
		}
		if e.Loss != nil {
			f.Message += " before it was committed: a program that did not run under small-hook guard has overwritten it"
			if e.Loss.Discarded {
				f.Message = ledger.Describe(e.Old.Entries[x.OldIndex]) + " was recorded, and then discarded with git before it was committed"
				if !e.Loss.Staged {
					f.Severity = finding.SeverityWarning
				}
			}
		}
		f.Fix = e.UsualFix()
		r.Add(f)
	}
	return nil
}

// describeReordered says where an entry stands now.
func describeReordered(e *logs.LogChange, x ledger.Edit) string {
	now := fmt.Sprintf("entry %d", x.NewIndex+1)
	if e.IsConfigured() {
		now = ledger.Describe(e.New.Entries[x.NewIndex])
	}
	return fmt.Sprintf("%s was moved; it is %s now", ledger.Describe(e.Old.Entries[x.OldIndex]), now)
}

// checkInserted reports new entries before older ones. In a commit with one parent, a reconcile entry permits them. In a merge, with or without a
// reconcile entry, an entry that no parent has may not stand before an entry of a parent (Misplaced), nor one of the branch before one that the
// target has (BeforeTarget).
func checkInserted(e *logs.LogChange, r *rule.Reporter) {
	report := func(index int) {
		f := e.InsertionFinding(index)
		f.Message = ledger.Describe(e.New.Entries[index]) + " was inserted " + e.Before() + " older entries"
		f.Fix = e.UsualFix()
		if e.IsMerge {
			f.Message = ledger.Describe(e.New.Entries[index]) + " is in no parent of the merge and stands " + e.Before() + " entries of a parent"
		}
		r.Add(f)
	}
	if e.IsMerge {
		for _, index := range e.Misplaced {
			report(index)
		}
		for _, index := range e.BeforeTarget {
			f := e.InsertionFinding(index)
			f.Message = ledger.Describe(e.New.Entries[index]) + " stands " + e.Before() + " an entry that the target has: a squash of the branch would insert it there"
			if f.Fix = e.TargetFix; f.Fix == "" {
				f.Fix = e.UsualFix()
			}
			r.Add(f)
		}
		return
	}
	if e.Reconciled() {
		return
	}
	for _, index := range e.Inserted {
		report(index)
	}
}

func checkReconciledInsertion(e *logs.LogChange, r *rule.Reporter) {
	if e.IsMerge || !e.Reconciled() {
		return
	}
	indexes := e.Inserted
	if len(indexes) == 0 {
		return
	}
	f := e.NewEntryFinding(indexes[0])
	f.Edits = e.InsertionKeys(indexes)
	f.Message = fmt.Sprintf("%s inserted before older ones, made explicit by %s: %s",
		wasWere(wording.Count(len(indexes), "entry"), len(indexes)), ledger.Describe(e.New.Entries[e.ReconcileEntry]), ledger.DescribeAll(ledger.Pick(e.New, indexes)))
	f.Fix = "leave it as it is if a reconciled merge was squashed; otherwise look at what was inserted"
	if r.Severity == finding.SeverityError {
		f.Fix = "redo the commit so that no new entry stands before older ones: merge the other branch instead of squashing it, or append the entries at the end, dated now"
		if r.RaisedBy != nil {
			f.Message += "; " + r.RaisedBy.By + " forbids it"
		}
	}
	r.Add(f)
}

func wasWere(what string, n int) string {
	if n == 1 {
		return what + " was"
	}
	return what + " were"
}

// deletionFix returns the fix for a deleted log. If the deletion has landed and another log stands at the path now, the usual fix accepts that with a
// baseline. If there is no log now, the fix brings it back and waives the deletion; if the same log as before is back already, it only waives it.
func deletionFix(ctx context.Context, e *logs.LogChange) (string, error) {
	s := e.Situation()
	if e.Fix != "" || s.Standing != history.Landed || history.Uncommitted(s.Commit) || s.NoWaiver {
		return e.UsualFix(), nil
	}
	now, err := e.Run.Source.Tree.List(ctx, e.Run.Scope.Tip.ID, history.At(e.Path))
	if err != nil {
		return "", err
	}
	before, err := e.Run.Source.Tree.List(ctx, e.Parent, history.At(e.Path))
	if err != nil || len(now) > 0 && !slices.Equal(now, before) {
		return e.UsualFix(), err
	}
	return s.BringBack(e.Path, len(now) > 0), nil
}

func checkLogDeleted(ctx context.Context, e *logs.LogChange, r *rule.Reporter) error {
	if e.New != nil {
		return nil
	}
	head := e.Run.Source.Policy.LogFor(e.Path).Head(e.Old).String()
	fix, err := deletionFix(ctx, e)
	if err != nil {
		return err
	}
	if dir, _, ok := small.SplitPath(e.Path); ok {
		begun, err := isMigrated(ctx, e, dir)
		if err != nil {
			return err
		}
		if begun { // beside records of 2.0.0 a log of 1.0.0 does not count
			fix = wording.Commands("small migrate --recover", "git add -- "+wording.TopPath(small.InDir(dir, ""))) +
				", and commit, together with the profile, the folder .small/imports that it makes, which replaces the log"
		}
	}
	severity := finding.SeverityError
	if e.Old.Len() == 0 { // nothing was lost
		severity = finding.SeverityWarning
	}
	r.Add(finding.Finding{
		Path: e.Path, EditFrom: head, Severity: severity,
		Edits:   []finding.EditKey{{Path: e.Path, From: head}},
		Message: fmt.Sprintf("the log with %s is gone", wording.Count(e.Old.Len(), "entry")),
		Fix:     fix,
	})
	return nil
}

// isMigrated reports whether the workspace of a log that is gone was migrated to 2.0.0, be it half-way: it has a profile, or an import.
func isMigrated(ctx context.Context, e *logs.LogChange, dir string) (bool, error) {
	if e.Run.Source.IsImmutableRecord(small.InDir(dir, records.ProfileFile)) {
		return true, nil
	}
	files, err := e.Run.Source.Tree.List(ctx, e.Commit, history.Workspaces(dir))
	return slices.ContainsFunc(files, func(f history.File) bool {
		in, name, ok := small.SplitPath(f.Path)
		return ok && in == dir && (records.KindOf(name) == records.Manifest || records.KindOf(name) == records.Original)
	}), err
}

// checkFutureTimestamp reports new entries that are dated ahead of now. It allows an entry that follows, within a millisecond, an entry that is ahead and
// was not reported here: that older entry cannot be changed any more.
func checkFutureTimestamp(e *logs.LogChange, r *rule.Reporter) {
	reported := map[int]bool{}
	for _, index := range e.NewEntries {
		entry := e.New.Entries[index]
		when, ok := ledger.ParseInstant(entry.Timestamp)
		if !ok || !when.After(e.Run.Source.Now.Add(ledger.ClockTolerance)) || index > 0 && !reported[index-1] && isMillisecondAfter(e.New.Entries[index-1], when) {
			continue
		}
		reported[index] = true
		f := e.NewEntryFinding(index)
		f.Edits = []finding.EditKey{{Path: e.Path + "\x00future", To: f.EditTo}}
		f.Message = fmt.Sprintf("%s is dated %s ahead of now; up to five minutes are allowed, and a millisecond after an entry that is ahead itself", ledger.Describe(entry), wording.Span(when.Sub(e.Run.Source.Now)))
		f.Fix = e.RecordAgainFix()
		r.Add(f)
	}
}

// isMillisecondAfter reports whether a time is later than that of an entry, by a millisecond at most.
func isMillisecondAfter(before ledger.Entry, when time.Time) bool {
	last, ok := ledger.ParseInstant(before.Timestamp)
	return ok && when.After(last) && when.Sub(last) <= time.Millisecond
}
