package gate

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/ledger"
)

var ruleModified = Rule{
	ID: "append-only/modified", Severity: SeverityError, Stage: StageHistory,
	Edit:   ledger.EntryChanged,
	Checks: []RuleCheck{On(reportEdits(editModified, modifiedWords))},
}

var ruleTimestampMigrated = Rule{
	ID: "append-only/timestamp-migrated", Severity: SeverityError, Stage: StageHistory,
	Edit: ledger.EntryChanged,
	Checks: []RuleCheck{On(reportEdits(editTimestampMigrated, func(e *LogEdge, x edit) string {
		return fmt.Sprintf("the timestamp of %s was rewritten; the instant is the same to the microsecond", entryWords(e.old.Entries[x.before]))
	}))},
}

var ruleTaskReassigned = Rule{
	ID: "append-only/task-reassigned", Severity: SeverityError, Stage: StageHistory,
	Edit: ledger.EntryChanged,
	Checks: []RuleCheck{On(reportEdits(editTaskReassigned, func(e *LogEdge, x edit) string {
		return fmt.Sprintf("%s was reassigned to %q", entryWords(e.old.Entries[x.before]), x.changes[0].To)
	}))},
}

// reportEdits makes the check of a rule that reports the edits of one kind.
func reportEdits(kind editKind, words func(*LogEdge, edit) string) func(*LogEdge, *Reporter) {
	return func(e *LogEdge, r *Reporter) {
		for _, x := range e.ofKind(kind) {
			f := e.finding(x)
			f.Message = words(e, x)
			f.Fix = e.remedies.PutBack()
			r.Add(f)
		}
	}
}

func modifiedWords(e *LogEdge, x edit) string {
	var fields []string
	for _, c := range x.changes {
		if c.Field != "" {
			fields = append(fields, c.Field)
		}
	}
	words := entryWords(e.old.Entries[x.before]) + " was modified"
	if len(fields) > 0 {
		words += ": " + strings.Join(fields, ", ")
	}
	return words
}
