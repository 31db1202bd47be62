package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleCompletedEvidence = Rule{
	ID: "verify/completed-evidence", Severity: SeverityError, Stage: StageVerify,
	Checks: []RuleCheck{On(checkCompletedEvidence)},
}

func checkCompletedEvidence(w *Workspace, r *Reporter) {
	if !w.hasLedger() {
		return
	}
	for i, task := range w.tasks() {
		if !task.named || !task.is("completed") || w.hasEntry(task.id, evidencedInTime) {
			continue
		}
		status := task.Get("status")
		r.Add(Finding{
			Path: w.path(small.Plan), Line: status.Pos.Line, Column: status.Pos.Column,
			subject: fmt.Sprintf("tasks.%d.status", i),
			Message: fmt.Sprintf("task %q is completed, but no entry of the log evidences it", task.id),
			Fix:     fmt.Sprintf("append an entry with task_id: %q and evidence, or correct the status", task.id),
		})
	}
}
