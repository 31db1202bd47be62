package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleMalformedLease = Rule{
	ID: "lease/malformed", Severity: SeverityWarning, Stage: StageLint,
	Summary: "a lease in the plan does not say who has it until when",
	Why: `A lease is a mapping of exactly agent_id, which is not blank, and expires, an RFC 3339 time with a zone,
both quoted as strings: YAML reads a bare time as a date. A lease that cannot be read binds nobody, and
the agent who wrote it believes that the task is its own. A task without a lease is free; so is one
whose lease is null. The protocol allows any other key in a task, so it is a warning, and an error
where leases are in use: where another task of the plan has one that can be read.`,
	Wrong: `
-- .small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export", lease: {agent_id: "agent-1", expires: "tomorrow"}}
  - {id: "task-2", title: "Write checkpoints"}
`,
	Right: `
-- .small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export", lease: {agent_id: "agent-1", expires: "2026-03-01T12:00:00Z"}}
  - {id: "task-2", title: "Write checkpoints", lease: null}
`,
	Snapshot: checkMalformedLease,
}

func checkMalformedLease(w *Workspace, r *reporter) {
	severity := SeverityWarning
	if len(leases(w.doc(small.Plan))) > 0 {
		severity = SeverityError
	}
	for i, task := range w.tasks() {
		_, problem, at := leaseOf(task.Value)
		if problem == "" {
			continue
		}
		r.add(Finding{
			Severity: severity,
			Path:     w.path(small.Plan), Line: at.Pos.Line, Column: at.Pos.Column, subject: fmt.Sprintf("tasks.%d.lease", i),
			Message: fmt.Sprintf("task %d: %s", i+1, problem),
			Fix:     `write lease: {agent_id: "AGENT", expires: "2026-12-31T12:00:00Z"}, or take it out`,
		})
	}
}
