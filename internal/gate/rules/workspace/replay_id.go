package workspace

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/expression"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// ReplayID is verify/replay-id: the handoff's replay id is not 64 hex digits.
var ReplayID = rule.New("verify/replay-id", finding.SeverityError, finding.StageVerify, rule.On(checkReplayID))

var replayIDForm = expression.Of(`^[0-9A-Fa-f]{64}$`)

// checkReplayID leaves a missing value, or one that is no string, to the
// schema.
func checkReplayID(w *subject.Workspace, r *rule.Reporter) {
	v := w.Doc(small.Handoff).Get("replayId").Get("value")
	text, ok := v.Str()
	if !ok || replayIDForm().MatchString(text) {
		return
	}
	r.Add(finding.Finding{
		Path: w.Path(small.Handoff), Line: v.Pos.Line, Column: v.Pos.Column, Subject: "replayId.value",
		Message: fmt.Sprintf("the handoff's replay id %q is not 64 hex digits", text),
		Fix:     "let the tool that wrote the handoff regenerate it",
	})
}
