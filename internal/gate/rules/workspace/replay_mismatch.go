package workspace

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// ReplayMismatch is verify/replay-mismatch: the handoff describes a run that the workspace has left.
var ReplayMismatch = rule.New("verify/replay-mismatch", finding.SeverityWarning, finding.StageVerify, rule.On(checkReplayMismatch))

func checkReplayMismatch(w *subject.Workspace, r *rule.Reporter) {
	handoff, named := w.HandoffRun()
	v := w.Doc(small.Workspace).Get("run").Get("replay_id")
	current, set := v.Str()
	if !named || !set || handoff == current || !w.Ledger().HasRun(handoff) {
		return // between `small init` and `small start` the handoff's run has no entries yet
	}
	fix := subject.StartAgain(w.Dir, w.Commit)
	if w.Ledger().RunOver(handoff) {
		fix = subject.BeginRun(w.Dir, w.Commit)
	}
	r.Add(finding.Finding{
		Path: w.Path(small.Workspace), Line: v.Pos.Line, Column: v.Pos.Column, Subject: "run.replay_id",
		Message: fmt.Sprintf("the workspace is at run %.12s…, the handoff belongs to run %.12s…", current, handoff),
		Fix:     fix,
	})
}
