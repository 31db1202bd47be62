package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleDuplicateID = Rule{
	ID: "lint/duplicate-id", Severity: SeverityWarning, Stage: StageLint,
	Checks: []RuleCheck{On(checkDuplicateID)},
}

func checkDuplicateID(w *Workspace, r *Reporter) {
	look := func(a small.Artifact, key, what string) {
		seen := map[string]int{}
		for i, item := range w.list(a, key) {
			v := item.Get("id")
			id, ok := v.Trimmed()
			if !ok {
				continue
			}
			if line, twice := seen[id]; twice {
				r.Add(Finding{
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
