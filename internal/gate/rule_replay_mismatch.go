package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleReplayMismatch = Rule{
	ID: "verify/replay-mismatch", Severity: SeverityWarning, Stage: StageVerify,
	Summary: "the handoff and the workspace file name different runs",
	Why: `The workspace file and the handoff both name a run, and whoever resumes takes them to be the same
one. If they differ, the handoff describes a run that is over: its summary and next steps are out of
date. It happens when a new run is started, or two branches are merged, and the handoff is not
regenerated. Regenerate it for the current run.`,
	Wrong: `
-- .small/workspace.small.yml --
small_version: "1.0.0"
owner: "agent"
kind: "repo-root"
run:
  replay_id: "7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a"
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
	Right: `
-- .small/workspace.small.yml --
small_version: "1.0.0"
owner: "agent"
kind: "repo-root"
run:
  replay_id: "7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a"
-- .small/handoff.small.yml --
small_version: "1.0.0"
owner: "agent"
summary: "The export can be read"
resume: {next_steps: ["Write checkpoints"]}
links: []
replayId:
  value: "7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a"
  source: "auto"
`,
	Snapshot: checkReplayMismatch,
}

func checkReplayMismatch(w *Workspace, r *reporter) {
	handoff, named := w.handoffRun()
	v := w.doc(small.Workspace).Get("run").Get("replay_id")
	current, set := v.Str()
	if !named || !set || handoff == current {
		return
	}
	r.add(Finding{
		Path: w.path(small.Workspace), Line: v.Pos.Line, Column: v.Pos.Column, subject: "run.replay_id",
		Message: fmt.Sprintf("the workspace is at run %.12s…, the handoff belongs to run %.12s…", current, handoff),
		Fix:     "regenerate the handoff for the current run",
	})
}
