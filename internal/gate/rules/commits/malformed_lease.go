package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// MalformedLease is lease/malformed: a lease in the plan does not say which agent holds it until when.
var MalformedLease = rule.New("lease/malformed", finding.SeverityWarning, finding.StageLint, rule.On(checkMalformedLease))

func checkMalformedLease(w *subject.Workspace, r *rule.Reporter) {
	severity := finding.SeverityWarning
	if w.Strict || len(subject.Leases(w.Doc(small.Plan))) > 0 {
		severity = finding.SeverityError
	}
	for i, task := range w.Tasks() {
		_, problem, at := subject.LeaseOf(task.Value)
		if problem == "" {
			continue
		}
		r.Add(finding.Finding{
			Severity: severity,
			Path:     w.Path(small.Plan), Line: at.Pos.Line, Column: at.Pos.Column, Subject: fmt.Sprintf("tasks.%d.lease", i),
			Message: fmt.Sprintf("task %d: %s", i+1, problem),
			Fix:     "write lease: {agent_id: \"agent-1\", expires: \"2026-12-31T12:00:00Z\"}, or remove it",
		})
	}
}
