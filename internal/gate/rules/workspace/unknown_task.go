package workspace

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// UnknownTask is lint/unknown-task: an entry of the current run names a task that the plan does not have.
var UnknownTask = rule.Rule{
	ID: "lint/unknown-task", Severity: finding.SeverityError, Stage: finding.StageLint, StrictOnly: true,
	Checks: []rule.Check{rule.On(checkUnknownTask)},
}

// checkUnknownTask judges the entries of the handoff's run, or all if the handoff names none.
func checkUnknownTask(w *subject.Workspace, r *rule.Reporter) {
	if w.Doc(small.Plan) == nil {
		return
	}
	run, bound := w.HandoffRun()
	over := bound && w.Ledger().RunOver(run)
	tasks := w.PlanTasks()
	entries, first := w.Entries()
	for i, e := range entries {
		v := e.Get("task_id")
		id, ok := v.Trimmed()
		if !ok || strings.HasPrefix(id, ledger.MetaPrefix) || tasks[id] || id == "" {
			continue
		}
		if of, _ := e.Get("replayId").Str(); bound && of != run {
			continue
		}
		fix := subject.BeginRun(w.Dir, w.Commit)
		if over {
			fix += ": the run of the entry is over, and the handoff still names it"
		} else {
			fix = "add task " + wording.Quote(id) + " to the plan, and do not change the entry; or begin a new run with a plan of its own: " + fix
		}
		r.Add(finding.Finding{
			Path: w.Path(small.Progress), Line: v.Pos.Line, Column: v.Pos.Column,
			Subject: fmt.Sprintf("entries.%d.task_id", first+i),
			Message: fmt.Sprintf("entry %d names task %q, which the plan does not have", first+i+1, id),
			Fix:     fix,
		})
	}
}
