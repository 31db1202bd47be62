package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleDuplicateID = Rule{
	ID: "lint/duplicate-id", Severity: SeverityWarning, Stage: StageLint,
	Summary: "two tasks or two constraints have the same id",
	Why: `Entries, the handoff and other tasks refer to a task by its id, and reviews refer to a constraint by
its id. If two of them share one, nobody can say which is meant, and evidence for the one passes as
evidence for the other. It happens when an item is copied, and when two branches each add the next
number. Give the newer one another id; entries that are committed keep the old one.`,
	Wrong: `
-- .small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export"}
  - {id: "task-1", title: "Write checkpoints"}
`,
	Right: `
-- .small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export"}
  - {id: "task-2", title: "Write checkpoints"}
`,
	Snapshot: checkDuplicateID,
}

func checkDuplicateID(w *Workspace, r *reporter) {
	look := func(a small.Artifact, key, what string) {
		seen := map[string]int{}
		for i, item := range w.list(a, key) {
			v := item.Get("id")
			id, ok := v.Trimmed()
			if !ok {
				continue
			}
			if line, twice := seen[id]; twice {
				r.add(Finding{
					Path: w.path(a), Line: v.Pos.Line, Column: v.Pos.Column,
					subject: fmt.Sprintf("%s.%d.id", key, i),
					Message: fmt.Sprintf("the %s id %q is used in line %d already", what, id, line),
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
