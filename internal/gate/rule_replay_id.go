package gate

import (
	"fmt"
	"regexp"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleReplayID = Rule{
	ID: "verify/replay-id", Severity: SeverityError, Stage: StageVerify,
	Checks: []RuleCheck{On(checkReplayID)},
}

var replayIDForm = regexp.MustCompile(`^[0-9A-Fa-f]{64}$`)

// checkReplayID leaves a missing value, or one that is no string, to the
// schema.
func checkReplayID(w *Workspace, r *Reporter) {
	v := w.doc(small.Handoff).Get("replayId").Get("value")
	text, ok := v.Str()
	if !ok || replayIDForm.MatchString(text) {
		return
	}
	r.Add(Finding{
		Path: w.path(small.Handoff), Line: v.Pos.Line, Column: v.Pos.Column, subject: "replayId.value",
		Message: fmt.Sprintf("the handoff's replay id %q is not 64 hex digits", text),
		Fix:     "let the tool that wrote the handoff regenerate it",
	})
}
