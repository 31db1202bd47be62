package gate

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleUnknownTask = Rule{
	ID: "lint/unknown-task", Severity: SeverityError, Stage: StageLint, StrictOnly: true,
	Summary: "an entry of the current run names a task that the plan does not have",
	Why: `Work of the current run belongs to the plan of the current run. An entry for a task that the plan
does not have is work that nobody agreed to, or a misspelt id, and either way the real task looks
untouched. It also happens when a task is renamed or removed while entries for it exist. Add the
task to the plan; a committed entry stays as it is. Entries of earlier runs and bookkeeping entries
(meta/...) are not asked.`,
	Wrong: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1b"
    replayId: "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f"
    evidence: "the export can be read"
`,
	Right: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    replayId: "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f"
    evidence: "the export can be read"
`,
	Snapshot: checkUnknownTask,
}

// checkUnknownTask judges the entries of the handoff's run (their replayId
// compared exactly), or all of them when the handoff names no run.
func checkUnknownTask(w *Workspace, r *reporter) {
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
		r.add(Finding{
			Path: w.path(small.Progress), Line: v.Pos.Line, Column: v.Pos.Column,
			subject: fmt.Sprintf("entries.%d.task_id", first+i),
			Message: fmt.Sprintf("entry %d names task %q, which the plan does not have", first+i+1, id),
			Fix:     fmt.Sprintf("add task %q to the plan; the entry itself stays as it is", id),
		})
	}
}
