package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleMalformedLease = Rule{
	ID: "lease/malformed", Severity: SeverityWarning, Stage: StageLint,
	Checks: []RuleCheck{On(checkMalformedLease)},
}

func checkMalformedLease(w *Workspace, r *Reporter) {
	severity := SeverityWarning
	if len(leases(w.doc(small.Plan))) > 0 {
		severity = SeverityError
	}
	for i, task := range w.tasks() {
		_, problem, at := leaseOf(task.Value)
		if problem == "" {
			continue
		}
		r.Add(Finding{
			Severity: severity,
			Path:     w.path(small.Plan), Line: at.Pos.Line, Column: at.Pos.Column, subject: fmt.Sprintf("tasks.%d.lease", i),
			Message: fmt.Sprintf("task %d: %s", i+1, problem),
			Fix:     `write lease: {agent_id: "AGENT", expires: "2026-12-31T12:00:00Z"}, or take it out`,
		})
	}
}
