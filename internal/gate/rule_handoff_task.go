package gate

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleHandoffTask = Rule{
	ID: "verify/handoff-task", Severity: SeverityError, Stage: StageVerify,
	Checks: []RuleCheck{On(checkHandoffTask)},
}

func checkHandoffTask(w *Workspace, r *Reporter) {
	v := w.doc(small.Handoff).Get("resume").Get("current_task_id")
	id, ok := v.Trimmed()
	if !ok || id == "" || strings.HasPrefix(id, small.MetaPrefix) || w.doc(small.Plan) == nil || w.planTasks()[id] {
		return
	}
	r.Add(Finding{
		Path: w.path(small.Handoff), Line: v.Pos.Line, Column: v.Pos.Column, subject: "resume.current_task_id",
		Message: fmt.Sprintf("the handoff resumes at task %q, which the plan does not have", id),
		Fix:     "name a task of the plan, or null",
	})
}
