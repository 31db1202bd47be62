package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleReplayMismatch = Rule{
	ID: "verify/replay-mismatch", Severity: SeverityWarning, Stage: StageVerify,
	Checks: []RuleCheck{On(checkReplayMismatch)},
}

func checkReplayMismatch(w *Workspace, r *Reporter) {
	handoff, named := w.handoffRun()
	v := w.doc(small.Workspace).Get("run").Get("replay_id")
	current, set := v.Str()
	if !named || !set || handoff == current {
		return
	}
	r.Add(Finding{
		Path: w.path(small.Workspace), Line: v.Pos.Line, Column: v.Pos.Column, subject: "run.replay_id",
		Message: fmt.Sprintf("the workspace is at run %.12s…, the handoff belongs to run %.12s…", current, handoff),
		Fix:     "regenerate the handoff for the current run",
	})
}
