package workspace

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// TaskEvidence is lint/task-evidence: a completed or blocked task has no entry with evidence or notes.
var TaskEvidence = rule.Rule{
	ID: "lint/task-evidence", Severity: finding.SeverityError, Stage: finding.StageLint, StrictOnly: true,
	Checks: []rule.Check{rule.On(checkTaskEvidence)},
}

// checkTaskEvidence leaves a completed task without any evidence to verify/completed-evidence.
func checkTaskEvidence(w *subject.Workspace, r *rule.Reporter) {
	if !w.HasLedger() {
		return
	}
	for i, task := range w.Tasks() {
		if !task.Named || !task.Is("completed", "blocked") || w.HasEntry(task.ID, hasEvidenceOrNotes) {
			continue
		}
		if task.Is("completed") && !w.HasEntry(task.ID, hasDatedEvidence) {
			continue
		}
		status := task.Get("status")
		r.Add(finding.Finding{
			Path: w.Path(small.Plan), Line: status.Pos.Line, Column: status.Pos.Column,
			Subject: fmt.Sprintf("tasks.%d.status", i),
			Message: fmt.Sprintf("task %q is %s, but no entry for it has evidence or notes", task.ID, task.Status),
			Fix:     fmt.Sprintf("append an entry with task_id: %s that says what was done, or correct the status", wording.Quote(task.ID)),
		})
	}
}

func hasEvidenceOrNotes(e *small.Value) bool {
	return small.NotBlank(e.Get("evidence")) || small.NotBlank(e.Get("notes"))
}

// hasDatedEvidence reports whether an entry has a valid timestamp, and evidence or notes.
func hasDatedEvidence(e *small.Value) bool {
	ts, _ := e.Get("timestamp").Str()
	if _, ok := ledger.ParseTimestamp(ts); !ok {
		return false
	}
	return ledger.Evidenced(e) || small.NotBlank(e.Get("notes"))
}
