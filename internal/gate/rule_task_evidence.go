package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleTaskEvidence = Rule{
	ID: "lint/task-evidence", Severity: SeverityError, Stage: StageLint, StrictOnly: true,
	Summary:  "a completed or blocked task has no entry with evidence or notes",
	Snapshot: checkTaskEvidence,
}

// checkTaskEvidence leaves a completed task without any evidence to
// verify/completed-evidence.
func checkTaskEvidence(w *Workspace, r *reporter) {
	if !w.hasLedger() {
		return
	}
	for i, task := range w.list(small.Plan, "tasks") {
		id, ok := task.Get("id").Str()
		if !ok || !isStatus(task, "completed", "blocked") || w.hasEntry(id, toldInWords) {
			continue
		}
		if isStatus(task, "completed") && !w.hasEntry(id, evidencedInTime) {
			continue
		}
		status := task.Get("status")
		r.add(Finding{
			Path: w.path(small.Plan), Line: status.Pos.Line, Column: status.Pos.Column,
			subject: fmt.Sprintf("tasks.%d.status", i),
			Message: fmt.Sprintf("task %q is %s, but no entry for it has evidence or notes", id, status.Text),
			Fix:     fmt.Sprintf("append an entry with task_id: %q that says what was done, or correct the status", id),
		})
	}
}

// hasLedger reports whether the progress file could be read: rules that look
// for entries are silent without it, since another rule speaks.
func (w *Workspace) hasLedger() bool {
	art := w.artifacts[small.Progress]
	return art != nil && art.log != nil
}

// hasEntry reports whether an entry of a task fulfils a condition.
func (w *Workspace) hasEntry(task string, fulfils func(*small.Value) bool) bool {
	for _, e := range w.list(small.Progress, "entries") {
		if id, ok := e.Get("task_id").Str(); ok && id == task && fulfils(e) {
			return true
		}
	}
	return false
}

// toldInWords: the entry has evidence or notes that are not blank.
func toldInWords(e *small.Value) bool {
	return small.NotBlank(e.Get("evidence")) || small.NotBlank(e.Get("notes"))
}

// evidencedInTime: the entry has a valid timestamp and evidence, notes,
// verification or test. A command, a link or a commit alone says that
// something ran, not what came of it.
func evidencedInTime(e *small.Value) bool {
	ts, _ := e.Get("timestamp").Str()
	if _, ok := parseTimestamp(ts); !ok {
		return false
	}
	return toldInWords(e) || small.NotBlank(e.Get("verification")) || small.NotBlank(e.Get("test"))
}
