package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleTaskEvidence = Rule{
	ID: "lint/task-evidence", Severity: SeverityError, Stage: StageLint, StrictOnly: true,
	Checks: []RuleCheck{On(checkTaskEvidence)},
}

// checkTaskEvidence leaves a completed task without any evidence to
// verify/completed-evidence.
func checkTaskEvidence(w *Workspace, r *Reporter) {
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
		r.Add(Finding{
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
