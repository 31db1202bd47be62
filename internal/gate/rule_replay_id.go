package gate

import (
	"fmt"
	"regexp"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleReplayID = Rule{
	ID: "verify/replay-id", Severity: SeverityError, Stage: StageVerify,
	Summary: "the handoff's replay id is not 64 hex digits",
	Why: `The replay id names the run that the handoff belongs to: 64 hex digits, a fingerprint of what was
declared. Entries carry it too, and with it a reader tells the entries of this run from those of
earlier ones. A short or invented id matches nothing. It comes from filling in the handoff by
hand, or from cutting the id as one would a commit's. Let the tool that writes the handoff make it
anew.`,
	Wrong: `
-- .small/handoff.small.yml --
small_version: "1.0.0"
owner: "agent"
summary: "The export can be read"
resume: {next_steps: ["Write checkpoints"]}
links: []
replayId:
  value: "3f3f3f3f"
  source: "manual"
`,
	Right: `
-- .small/handoff.small.yml --
small_version: "1.0.0"
owner: "agent"
summary: "The export can be read"
resume: {next_steps: ["Write checkpoints"]}
links: []
replayId:
  value: "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f"
  source: "auto"
`,
	Snapshot: checkReplayID,
}

var replayIDForm = regexp.MustCompile(`^[0-9A-Fa-f]{64}$`)

// checkReplayID leaves a missing value, or one that is no string, to the
// schema.
func checkReplayID(w *Workspace, r *reporter) {
	v := w.doc(small.Handoff).Get("replayId").Get("value")
	text, ok := v.Str()
	if !ok || replayIDForm.MatchString(text) {
		return
	}
	r.add(Finding{
		Path: w.path(small.Handoff), Line: v.Pos.Line, Column: v.Pos.Column, subject: "replayId.value",
		Message: fmt.Sprintf("the handoff's replay id %q is not 64 hex digits", text),
		Fix:     "let the tool that wrote the handoff regenerate it",
	})
}
