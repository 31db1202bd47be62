package workspace

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// ReplayMismatch is verify/replay-mismatch: the handoff and the workspace file name different runs.
var ReplayMismatch = rule.Rule{
	ID: "verify/replay-mismatch", Severity: finding.SeverityWarning, Stage: finding.StageVerify,
	Checks: []rule.Check{rule.On(checkReplayMismatch)},
}

func checkReplayMismatch(w *subject.Workspace, r *rule.Reporter) {
	handoff, named := w.HandoffRun()
	v := w.Doc(small.Workspace).Get("run").Get("replay_id")
	current, set := v.Str()
	if !named || !set || handoff == current {
		return
	}
	r.Add(finding.Finding{
		Path: w.Path(small.Workspace), Line: v.Pos.Line, Column: v.Pos.Column, Subject: "run.replay_id",
		Message: fmt.Sprintf("the workspace is at run %.12s…, the handoff belongs to run %.12s…", current, handoff),
		Fix:     "regenerate the handoff for the current run",
	})
}
