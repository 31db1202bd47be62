package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleCompletedEvidence = Rule{
	ID: "verify/completed-evidence", Severity: SeverityError, Stage: StageVerify,
	Summary:  "the plan calls a task completed that progress does not evidence",
	Snapshot: checkCompletedEvidence,
}

func checkCompletedEvidence(w *Workspace, r *reporter) {
	if !w.hasLedger() {
		return
	}
	for i, task := range w.list(small.Plan, "tasks") {
		id, ok := task.Get("id").Str()
		if !ok || !isStatus(task, "completed") || w.hasEntry(id, evidencedInTime) {
			continue
		}
		status := task.Get("status")
		r.add(Finding{
			Path: w.path(small.Plan), Line: status.Pos.Line, Column: status.Pos.Column,
			subject: fmt.Sprintf("tasks.%d.status", i),
			Message: fmt.Sprintf("task %q is completed, but no entry of the log evidences it", id),
			Fix:     fmt.Sprintf("append an entry with task_id: %q and evidence (or verification, test, notes), or correct the status", id),
		})
	}
}
