package workspaces

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

func checkDuplicateID(w *read.Workspace, r *rule.Reporter) {
	look := func(a small.Artifact, key, what string) {
		seen := map[string]int{}
		for i, item := range w.List(a, key) {
			v := item.Get("id")
			id, ok := v.Trimmed()
			if !ok {
				continue
			}
			if line, twice := seen[id]; twice {
				r.Add(finding.Finding{
					Path: w.Path(a), Line: v.Pos.Line, Column: v.Pos.Column,
					Subject: fmt.Sprintf("%s.%d.id", key, i),
					Message: fmt.Sprintf("the %s id %q is already used in line %d", what, id, line),
					Fix:     "give one of the two another id",
				})
				continue
			}
			seen[id] = v.Pos.Line
		}
	}
	look(small.Plan, "tasks", "task")
	look(small.Constraints, "constraints", "constraint")
}

// checkTaskEvidence skips a completed task without any evidence, which verify/completed-evidence reports.
func checkTaskEvidence(w *read.Workspace, r *rule.Reporter) {
	if !w.HasLedger() {
		return
	}
	for i, task := range w.Tasks() {
		if !task.HasID || !task.Is("completed", "blocked") || w.HasEntry(task.ID, hasEvidenceOrNotes) {
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

func checkCompletedEvidence(w *read.Workspace, r *rule.Reporter) {
	if !w.HasLedger() {
		return
	}
	for i, task := range w.Tasks() {
		if !task.HasID || !task.Is("completed") || w.HasEntry(task.ID, hasDatedEvidence) {
			continue
		}
		status := task.Get("status")
		r.Add(finding.Finding{
			Path: w.Path(small.Plan), Line: status.Pos.Line, Column: status.Pos.Column,
			Subject: fmt.Sprintf("tasks.%d.status", i),
			Message: fmt.Sprintf("task %q is completed, but no log entry gives evidence for it", task.ID),
			Fix:     fmt.Sprintf("append an entry with task_id: %s and evidence, or correct the status", wording.Quote(task.ID)),
		})
	}
}
