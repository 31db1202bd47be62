package workspace

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// HandoffTask is verify/handoff-task: the handoff resumes at a task that the plan does not have.
var HandoffTask = rule.New("verify/handoff-task", finding.SeverityError, finding.StageVerify, rule.On(checkHandoffTask))

func checkHandoffTask(w *subject.Workspace, r *rule.Reporter) {
	v := w.Doc(small.Handoff).Get("resume").Get("current_task_id")
	id, ok := v.Trimmed()
	if !ok || id == "" || strings.HasPrefix(id, ledger.MetaPrefix) || w.Doc(small.Plan) == nil || w.PlanTasks()[id] {
		return
	}
	r.Add(finding.Finding{
		Path: w.Path(small.Handoff), Line: v.Pos.Line, Column: v.Pos.Column, Subject: "resume.current_task_id",
		Message: fmt.Sprintf("the handoff resumes at task %q, which the plan does not have", id),
		Fix:     "name a task of the plan, or null",
	})
}
