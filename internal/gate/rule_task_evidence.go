package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleTaskEvidence = Rule{
	ID: "lint/task-evidence", Severity: SeverityError, Stage: StageLint, StrictOnly: true,
	Summary: "a completed or blocked task has no entry with evidence or notes",
	Why: `A task that is completed or blocked has ended for now, and the plan alone does not say how. Some
entry for the task must tell it in words, as evidence or notes: what was reached, or what it waits
for. It is mostly a status that was changed in the plan without an entry beside it. Append the
entry, or set the status back. Without strict mode, only completed tasks are held to this
(verify/completed-evidence).`,
	Wrong: `
-- .small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export", status: "blocked"}
`,
	Right: `
-- .small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export", status: "blocked"}
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    status: "blocked"
    evidence: "the export of March is empty; asked its owner in ticket 12"
`,
	Snapshot: checkTaskEvidence,
}

// checkTaskEvidence leaves a completed task without any evidence to
// verify/completed-evidence.
func checkTaskEvidence(w *Workspace, r *reporter) {
	if !w.hasLedger() {
		return
	}
	for i, task := range w.tasks() {
		if !task.named || !task.is("completed", "blocked") || w.hasEntry(task.id, toldInWords) {
			continue
		}
		if task.is("completed") && !w.hasEntry(task.id, evidencedInTime) {
			continue
		}
		status := task.Get("status")
		r.add(Finding{
			Path: w.path(small.Plan), Line: status.Pos.Line, Column: status.Pos.Column,
			subject: fmt.Sprintf("tasks.%d.status", i),
			Message: fmt.Sprintf("task %q is %s, but no entry for it has evidence or notes", task.id, task.status),
			Fix:     fmt.Sprintf("append an entry with task_id: %q that says what was done, or correct the status", task.id),
		})
	}
}

// hasLedger reports whether the progress file could be read: rules that look
// for entries are silent without it, since another rule speaks.
func (w *Workspace) hasLedger() bool {
	art := w.artifacts[small.Progress]
	return art != nil && art.log != nil
}

// hasEntry reports whether an entry of a task fulfils a condition, where there
// is a ledger.
func (w *Workspace) hasEntry(task string, fulfils func(*small.Value) bool) bool {
	items := w.list(small.Progress, "entries")
	for i, e := range w.artifacts[small.Progress].log.Entries {
		if e.TaskID == task && e.TaskID != "" && fulfils(items[i]) {
			return true
		}
	}
	return false
}

// toldInWords: the entry has evidence or notes that are not blank.
func toldInWords(e *small.Value) bool {
	return small.NotBlank(e.Get("evidence")) || small.NotBlank(e.Get("notes"))
}

// evidencedInTime: the entry has a valid timestamp, and evidence or notes.
func evidencedInTime(e *small.Value) bool {
	ts, _ := e.Get("timestamp").Str()
	if _, ok := parseTimestamp(ts); !ok {
		return false
	}
	return small.Evidenced(e) || small.NotBlank(e.Get("notes"))
}
