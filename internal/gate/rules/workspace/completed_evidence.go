package workspace

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// CompletedEvidence is verify/completed-evidence: the plan calls a task completed, but progress has no evidence for it.
var CompletedEvidence = rule.New("verify/completed-evidence", finding.SeverityError, finding.StageVerify, rule.On(checkCompletedEvidence))

func checkCompletedEvidence(w *subject.Workspace, r *rule.Reporter) {
	if !w.HasLedger() {
		return
	}
	for i, task := range w.Tasks() {
		if !task.Named || !task.Is("completed") || w.HasEntry(task.ID, hasDatedEvidence) {
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
