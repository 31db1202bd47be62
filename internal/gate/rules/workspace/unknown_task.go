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

// checkUnknownTask judges the entries of the handoff's run, or all if the handoff names none. Of a run that is over it names the first.
func checkUnknownTask(w *subject.Workspace, r *rule.Reporter) {
	if w.Doc(small.Plan) == nil {
		return
	}
	run, bound := w.HandoffRun()
	over := bound && w.Ledger().RunOver(run)
	tasks := w.PlanTasks()
	fix := func(entry int, id string) string {
		switch {
		case over:
			return subject.BeginRun(w.Dir, w.Commit)
		case entry < w.Settled:
			return "a committed entry is never edited: add task " + wording.Quote(id) + " to the plan; cancelled, if its name is a slip"
		}
		return "name a task of the plan: " + listed(w.Tasks()) + "; or add task " + wording.Quote(id) + " to it. " +
			"Entries that are written and not yet committed are dropped with small-hook restore --discard-new, and recorded again"
	}
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
		at := fmt.Sprintf("entries.%d.task_id", first+i)
		r.Add(finding.Finding{
			Path: w.Path(small.Progress), Line: v.Pos.Line, Column: v.Pos.Column,
			Subject: at,
			Message: fmt.Sprintf("entry %d names task %q, which the plan does not have", first+i+1, id),
			Fix:     fix(first+i, id),
		})
		if over {
			return // one new run helps all of them
		}
	}
}

// listed names the first tasks of a plan.
func listed(tasks []subject.Task) string {
	const most = 8
	var names []string
	for _, task := range tasks {
		if task.Named && len(names) < most {
			names = append(names, wording.Quote(task.ID))
		}
	}
	if more := len(tasks) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(names) == 0 {
		return "it has none"
	}
	return strings.Join(names, ", ")
}
