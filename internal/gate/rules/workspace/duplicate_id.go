package workspace

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// DuplicateID is lint/duplicate-id: two tasks or two constraints have the same id.
var DuplicateID = rule.New("lint/duplicate-id", finding.SeverityWarning, finding.StageLint, rule.On(checkDuplicateID))

func checkDuplicateID(w *subject.Workspace, r *rule.Reporter) {
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
