package commits

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/wording"
)

// Modified is append-only/modified: an earlier entry was changed.
var Modified = rule.Rule{
	ID: "append-only/modified", Severity: finding.SeverityError, Stage: finding.StageHistory,
	Edit:   ledger.EntryChanged,
	Checks: []rule.Check{rule.On(reportEdits(ledger.EditModified, describeModified))},
}

// TimestampMigrated is append-only/timestamp-migrated: an earlier entry's timestamp was written in another form.
var TimestampMigrated = rule.Rule{
	ID: "append-only/timestamp-migrated", Severity: finding.SeverityError, Stage: finding.StageHistory,
	Edit:   ledger.EntryChanged,
	Checks: []rule.Check{rule.On(checkTimestampMigrated)},
}

func checkTimestampMigrated(e *subject.LogChange, r *rule.Reporter) {
	for _, x := range e.OfKind(ledger.EditTimestampMigrated) {
		f := e.Finding(x)
		f.Message = fmt.Sprintf("the timestamp of %s was rewritten; the instant is the same to the microsecond", ledger.Describe(e.Old.Entries[x.OldIndex]))
		f.Fix = keepMigration(e)
		r.Add(f)
	}
}

// keepMigration excuses a migration, without which the protocol's own program adds no entry. It can be undone as any edit can.
func keepMigration(e *subject.LogChange) string {
	s := e.Situation()
	const first = "a person who wants the migration excuses it before it is committed, and the waiver counts once the target branch has it"
	if e.Fix != "" || e.Merge || !history.Uncommitted(s.Commit) {
		return e.Undo() + "; " + first + " (small-hook waive --rule append-only/timestamp-migrated)"
	}
	stage := "git add -- " + wording.TopPath(e.Path) // the index may be one that git commit -a has made
	return first + ": push it first. " +
		wording.Commands(stage, `small-hook waive --rule append-only/timestamp-migrated --reason "small progress migrate"`,
			"git add -- :/.small-gate.yml", `git commit -m "Waive the migration of timestamps" -- :/.small-gate.yml`, "git push") +
		". Before the log is accepted as it stands (small-hook baseline), migrate it"
}

// TaskReassigned is append-only/task-reassigned: an earlier entry was given to a historical task.
var TaskReassigned = rule.Rule{
	ID: "append-only/task-reassigned", Severity: finding.SeverityError, Stage: finding.StageHistory,
	Edit:   ledger.EntryChanged,
	Checks: []rule.Check{rule.On(checkTaskReassigned)},
}

// checkTaskReassigned also says what to do instead: it is the end of a run that makes a tool reassign its entries.
func checkTaskReassigned(e *subject.LogChange, r *rule.Reporter) {
	for _, x := range e.OfKind(ledger.EditTaskReassigned) {
		f := e.Finding(x)
		f.Message = fmt.Sprintf("%s was reassigned to %q", ledger.Describe(e.Old.Entries[x.OldIndex]), x.Changes[0].To)
		f.Fix = e.Undo()
		if e.New.ResetLast() {
			f.Fix = e.UndoAndBeginRun()
		}
		r.Add(f)
	}
}

// reportEdits makes a check that reports the edits of one kind.
func reportEdits(kind ledger.EditKind, words func(*subject.LogChange, ledger.Edit) string) func(*subject.LogChange, *rule.Reporter) {
	return func(e *subject.LogChange, r *rule.Reporter) {
		for _, x := range e.OfKind(kind) {
			f := e.Finding(x)
			f.Message = words(e, x)
			f.Fix = e.Undo()
			r.Add(f)
		}
	}
}

func describeModified(e *subject.LogChange, x ledger.Edit) string {
	var fields []string
	for _, c := range x.Changes {
		if c.Field != "" {
			fields = append(fields, c.Field)
		}
	}
	words := ledger.Describe(e.Old.Entries[x.OldIndex]) + " was modified"
	if len(fields) > 0 {
		words += ": " + strings.Join(fields, ", ")
	}
	return words
}
