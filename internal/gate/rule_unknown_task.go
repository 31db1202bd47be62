package gate

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleUnknownTask = Rule{
	ID: "lint/unknown-task", Severity: SeverityError, Stage: StageLint, StrictOnly: true,
	Checks: []RuleCheck{On(checkUnknownTask)},
}

// checkUnknownTask judges the entries of the handoff's run (their replayId
// compared exactly), or all of them when the handoff names no run.
func checkUnknownTask(w *Workspace, r *Reporter) {
	if w.doc(small.Plan) == nil {
		return
	}
	run, bound := w.handoffRun()
	tasks := w.planTasks()
	entries, first := w.entries()
	for i, e := range entries {
		v := e.Get("task_id")
		id, ok := v.Trimmed()
		if !ok || strings.HasPrefix(id, small.MetaPrefix) || tasks[id] || id == "" {
			continue
		}
		if of, _ := e.Get("replayId").Str(); bound && of != run {
			continue
		}
		r.Add(Finding{
			Path: w.path(small.Progress), Line: v.Pos.Line, Column: v.Pos.Column,
			subject: fmt.Sprintf("entries.%d.task_id", first+i),
			Message: fmt.Sprintf("entry %d names task %q, which the plan does not have", first+i+1, id),
			Fix:     fmt.Sprintf("add task %q to the plan; the entry itself stays as it is", id),
		})
	}
}
