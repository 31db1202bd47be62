package gate

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleHandoffTask = Rule{
	ID: "verify/handoff-task", Severity: SeverityError, Stage: StageVerify,
	Summary: "the handoff resumes at a task that the plan does not have",
	Why: `The handoff is the one place to resume from, and it points at a task of the plan. If the plan has no
such task, whoever resumes has to guess, or begins something that nobody planned. It happens when
the plan is rewritten or a task renamed after the handoff was made, and when two branches are merged
that changed one file each. Name a task that the plan has, or null when there is none to resume.`,
	Wrong: `
-- .small/handoff.small.yml --
small_version: "1.0.0"
owner: "agent"
summary: "The export can be read"
resume: {current_task_id: "task-7", next_steps: ["Write checkpoints"]}
links: []
replayId:
  value: "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f"
  source: "auto"
`,
	Right: `
-- .small/handoff.small.yml --
small_version: "1.0.0"
owner: "agent"
summary: "The export can be read"
resume: {current_task_id: "task-2", next_steps: ["Write checkpoints"]}
links: []
replayId:
  value: "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f"
  source: "auto"
`,
	Snapshot: checkHandoffTask,
}

func checkHandoffTask(w *Workspace, r *reporter) {
	v := w.doc(small.Handoff).Get("resume").Get("current_task_id")
	id, ok := v.Trimmed()
	if !ok || id == "" || strings.HasPrefix(id, small.MetaPrefix) || w.doc(small.Plan) == nil || w.planTasks()[id] {
		return
	}
	r.add(Finding{
		Path: w.path(small.Handoff), Line: v.Pos.Line, Column: v.Pos.Column, subject: "resume.current_task_id",
		Message: fmt.Sprintf("the handoff resumes at task %q, which the plan does not have", id),
		Fix:     "name a task of the plan, or null",
	})
}
