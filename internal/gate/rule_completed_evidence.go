package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleCompletedEvidence = Rule{
	ID: "verify/completed-evidence", Severity: SeverityError, Stage: StageVerify,
	Summary: "the plan calls a task completed that progress does not evidence",
	Why: `"Completed" in the plan is a claim, and the log is where it is proved: by an entry for the task with a
valid time and evidence: evidence, notes, verification, command, test, link or commit. Without such an
entry nobody can check the claim, and the next agent builds on it all the same. Mostly the status was
changed first and the entry forgotten, or the entry names the task by another id. Append the entry, or
set the status back. Strict mode asks for words, see lint/task-evidence.`,
	Wrong: `
-- .small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export", status: "completed"}
`,
	Right: `
-- .small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export", status: "completed"}
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    status: "completed"
    evidence: "importer reads 1204 rows"
`,
	Snapshot: checkCompletedEvidence,
}

func checkCompletedEvidence(w *Workspace, r *reporter) {
	if !w.hasLedger() {
		return
	}
	for i, task := range w.tasks() {
		if !task.named || !task.is("completed") || w.hasEntry(task.id, evidencedInTime) {
			continue
		}
		status := task.Get("status")
		r.add(Finding{
			Path: w.path(small.Plan), Line: status.Pos.Line, Column: status.Pos.Column,
			subject: fmt.Sprintf("tasks.%d.status", i),
			Message: fmt.Sprintf("task %q is completed, but no entry of the log evidences it", task.id),
			Fix:     fmt.Sprintf("append an entry with task_id: %q and evidence, or correct the status", task.id),
		})
	}
}
