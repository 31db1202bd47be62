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

// migrationFix says how to undo a migration of timestamps or how to waive it: the protocol's own program adds no entry to a log that is not migrated.
func migrationFix(e *logs.LogChange) string {
	s := e.Situation()
	if s.NoWaiver {
		return e.Undo()
	}
	const first = "a person who wants the migration waives it before it is committed, and the waiver counts once the target branch has it"
	if e.Fix != "" || e.Merge || !history.Uncommitted(s.Commit) {
		return e.Undo() + "; " + first + " (small-hook waive --rule append-only/timestamp-migrated)"
	}
	stage := "git add -- " + wording.TopPath(e.Path) // the index may be the one that git commit -a makes
	return first + ": push it first. " +
		wording.Commands(stage, `small-hook waive --rule append-only/timestamp-migrated --reason "small progress migrate"`,
			"git add -- :/.small-gate.yml", `git commit -m "Waive the migration of timestamps" -- :/.small-gate.yml`, "git push") +
		". Before the log is accepted as it is now (small-hook baseline), migrate it"
}

// checkTaskReassigned reports entries that were given another task. Tools do this when a run ends, so the fix also says how to begin a run.
func checkTaskReassigned(e *logs.LogChange, r *rule.Reporter) {
	for _, x := range e.OfKind(ledger.EditTaskReassigned) {
		f := e.Finding(x)
		f.Message = fmt.Sprintf("%s was reassigned to %q", ledger.Describe(e.Old.Entries[x.OldIndex]), x.Changes[0].To)
		f.Fix = e.Undo()
		if e.New.EndsWithReset() {
			f.Fix = e.UndoAndBeginRun()
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
			f.Fix = e.Undo()
			r.Add(f)
		}
	}
}

// checkDeleted reports entries that are gone. Those that a merge loses are reported by divergence/lost-entry.
func checkDeleted(e *logs.LogChange, r *rule.Reporter) {
	if e.Merge {
		return
	}
	for _, x := range e.OfKind(ledger.EditDeleted) {
		f := e.Finding(x)
		f.Message = ledger.Describe(e.Old.Entries[x.OldIndex]) + " was deleted"
		if e.Loss != nil {
			f.Message += " before it was committed: a writer without a guard has written over it"
			if e.Loss.Discarded {
				f.Message = ledger.Describe(e.Old.Entries[x.OldIndex]) + " was recorded, and then discarded with git before it was committed"
				if !e.Loss.Sealed {
					f.Severity = finding.SeverityWarning
				}
			}
		}
		f.Fix = e.Undo()
		r.Add(f)
	}
}

// describeReordered says where an entry stands now.
func describeReordered(e *logs.LogChange, x ledger.Edit) string {
	now := fmt.Sprintf("entry %d", x.NewIndex+1)
	if e.Configured() {
		now = ledger.Describe(e.New.Entries[x.NewIndex])
	}
	return fmt.Sprintf("%s was moved; it is %s now", ledger.Describe(e.Old.Entries[x.OldIndex]), now)
}

// checkInserted reports new entries before older ones. In a commit with one parent, a reconcile entry permits them; in a merge
// nothing does.
func checkInserted(e *logs.LogChange, r *rule.Reporter) {
	report := func(index int) {
		f := e.InsertionFinding(index)
		f.Message = ledger.Describe(e.New.Entries[index]) + " was inserted before older entries"
		f.Fix = e.Undo()
		if e.Merge {
			f.Severity = finding.SeverityError
			f.Message = ledger.Describe(e.New.Entries[index]) + " is in no parent of the merge and stands before entries of a parent"
		}
		r.Add(f)
	}
	if e.Merge {
		for _, index := range e.Misplaced {
			report(index)
		}
		for _, index := range e.BeforeTarget {
			f := e.InsertionFinding(index)
			f.Message = ledger.Describe(e.New.Entries[index]) + " stands before an entry that the target has; squashed, the branch would insert it there"
			f.Fix = e.Undo()
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
	if e.Merge || !e.Reconciled() {
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
		f.Fix = "redo the commit so that no new entry stands before older ones: merge the other branch instead of squashing it, or append the entries with the time of recording"
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

// deletionFix returns the fix for a deleted log. A deletion that has landed can be accepted by a baseline only if another log stands at the path
// now; if there is none, or the same one as before, the log is brought back first.
func deletionFix(ctx context.Context, e *logs.LogChange) (string, error) {
	s := e.Situation()
	if e.Fix != "" || s.Standing != history.Landed || history.Uncommitted(s.Commit) || s.NoWaiver {
		return e.Undo(), nil
	}
	now, err := e.Run.Source.Tree.List(ctx, e.Run.Scope.Tip.ID, history.At(e.Path))
	if err != nil {
		return "", err
	}
	before, err := e.Run.Source.Tree.List(ctx, e.Parent, history.At(e.Path))
	if err != nil || len(now) > 0 && !slices.Equal(now, before) {
		return e.Undo(), err
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
	if dir, _, ok := small.SplitPath(e.Path); ok && e.Run.Source.IsImmutableRecord(small.InDir(dir, records.ProfileFile)) {
		// A log of 1.0.0 does not count beside a profile of 2.0.0.
		fix = wording.Commands("small migrate --recover", "git add -- "+wording.TopPath(small.InDir(dir, ""))) +
			", and commit the import that takes the log's place together with the profile"
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

// checkFutureTimestamp allows an entry right after one that is itself ahead: that one cannot be changed, and work has to go on.
func checkFutureTimestamp(e *logs.LogChange, r *rule.Reporter) {
	ahead := map[int]bool{}
	for _, index := range e.NewEntries {
		entry := e.New.Entries[index]
		when, ok := ledger.ParseInstant(entry.Timestamp)
		if !ok || !when.After(e.Run.Source.Now.Add(ledger.ClockTolerance)) || index > 0 && !ahead[index-1] && isMillisecondAfter(e.New.Entries[index-1], when) {
			continue
		}
		ahead[index] = true
		f := e.NewEntryFinding(index)
		f.Edits = []finding.EditKey{{Path: e.Path + "\x00future", To: f.EditTo}}
		f.Message = fmt.Sprintf("%s is dated %s ahead of now; up to five minutes are allowed, and a millisecond after an entry that is ahead itself", ledger.Describe(entry), wording.Span(when.Sub(e.Run.Source.Now)))
		f.Fix = e.RecordAgain()
		r.Add(f)
	}
}

// isMillisecondAfter reports whether a time is later than that of an entry, by a millisecond at most.
func isMillisecondAfter(before ledger.Entry, when time.Time) bool {
	last, ok := ledger.ParseInstant(before.Timestamp)
	return ok && when.After(last) && when.Sub(last) <= time.Millisecond
}
