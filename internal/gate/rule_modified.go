package gate

import (
	"fmt"
	"strings"
)

var ruleModified = Rule{
	ID: "append-only/modified", Severity: SeverityError, Stage: StageHistory,
	Summary: "an earlier entry was changed",
	Why: `The log is evidence because nobody can change it afterwards; one edited entry makes all of them
doubtful. Edits are seldom meant as such: a formatter turns tabs into spaces inside a text, a
conflict is resolved by hand, a typo is corrected, a private path is removed before a release. What
counts is the meaning: other quotes, key order, comments, indentation and line endings change
nothing, one space inside a text does. Put the entry back as it was and append a new one that says
what is right now. Where an entry really must go, a waiver in .small-gate.yml excuses that one edit.`,
	Wrong: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1240 rows"
`,
	Right: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
  - timestamp: "2026-03-01T09:30:00.000000000Z"
    task_id: "task-1"
    evidence: "counted again: it is 1240 rows, the count before was mistyped"
`,
	Edge: reportEdits(editModified, modifiedWords),
}

var ruleTimestampMigrated = Rule{
	ID: "append-only/timestamp-migrated", Severity: SeverityError, Stage: StageHistory,
	Summary: "an earlier entry's timestamp was written in another form",
	Why: `Some tools offer to write old timestamps in a newer form, with nine digits of a fraction. The instant
stays the same, but the entry is not the one that was committed: its digest changes, and every branch
that forked before conflicts in every entry. This rule has a name of its own so that such a migration
can be told from a forgery, and be excused as what it is. Leave old entries in their form and accept
them with a baseline; new entries use the new form.`,
	Wrong: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.0Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000001Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
`,
	Right: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.0Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.0Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
  - timestamp: "2026-03-01T09:30:00.000000000Z"
    task_id: "task-2"
    evidence: "checkpoints are written"
`,
	Edge: reportEdits(editTimestampMigrated, func(e *edgeView, x edit) string {
		return fmt.Sprintf("the timestamp of %s was rewritten; the instant is the same to the microsecond", entryWords(e.p.Entries[x.before]))
	}),
}

var ruleTaskReassigned = Rule{
	ID: "append-only/task-reassigned", Severity: SeverityError, Stage: StageHistory,
	Summary: "an earlier entry was given to a historical task",
	Why: `When a plan drops a task, some tools rename the entries of that task to meta/historical/..., so that
no entry names an unknown task. That keeps a check of today quiet by rewriting what was said
yesterday: the entry claims to be about something else than it was. The rule has a name of its own so
that this can be told from other edits. Leave the entry, keep the task in the plan with the status
"cancelled", or go on to a new run, whose checks do not ask about old entries.`,
	Wrong: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "meta/historical/task-1"
    evidence: "importer reads 1204 rows"
`,
	Right: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- 2/.small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export", status: "cancelled"}
  - {id: "task-2", title: "Write checkpoints"}
`,
	Edge: reportEdits(editTaskReassigned, func(e *edgeView, x edit) string {
		return fmt.Sprintf("%s was reassigned to %q", entryWords(e.p.Entries[x.before]), x.changes[0].To)
	}),
}

// reportEdits makes the check of a rule that reports the edits of one kind.
func reportEdits(kind editKind, words func(*edgeView, edit) string) func(*edgeView, *reporter) {
	return func(e *edgeView, r *reporter) {
		for _, x := range e.ofKind(kind) {
			f := e.finding(x)
			f.Message = words(e, x)
			f.Fix = r.putBack(e)
			r.add(f)
		}
	}
}

func modifiedWords(e *edgeView, x edit) string {
	var fields []string
	for _, c := range x.changes {
		if c.Field != "" {
			fields = append(fields, c.Field)
		}
	}
	words := entryWords(e.p.Entries[x.before]) + " was modified"
	if len(fields) > 0 {
		words += ": " + strings.Join(fields, ", ")
	}
	return words
}
