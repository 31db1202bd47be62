package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleForkRun = Rule{
	ID: "divergence/run", Severity: SeverityError, Stage: StageHistory,
	Summary: "two branches both started a new run",
	Why: `The handoff is the only place from which work is resumed, and it names one run. Two branches that
each started a run of their own cannot both be resumed: whichever handoff wins the merge makes the
entries of the other run orphans. Let one run end before the other begins; or merge explicitly and
start a run that follows both.`,
	Wrong: `
-- ours/.small/workspace.small.yml --
small_version: "1.0.0"
owner: "agent"
kind: "repo-root"
run:
  replay_id: "1111111111111111111111111111111111111111111111111111111111111111"
-- ours/.small/handoff.small.yml --
small_version: "1.0.0"
owner: "agent"
summary: "A run on main"
resume: {next_steps: []}
links: []
replayId: {value: "1111111111111111111111111111111111111111111111111111111111111111", source: "manual"}
-- theirs/.small/workspace.small.yml --
small_version: "1.0.0"
owner: "agent"
kind: "repo-root"
run:
  replay_id: "2222222222222222222222222222222222222222222222222222222222222222"
-- theirs/.small/handoff.small.yml --
small_version: "1.0.0"
owner: "agent"
summary: "A run on the branch"
resume: {next_steps: []}
links: []
replayId: {value: "2222222222222222222222222222222222222222222222222222222222222222", source: "manual"}
`,
	Right: `
-- ours/README --
No run is started on this branch.
-- theirs/.small/workspace.small.yml --
small_version: "1.0.0"
owner: "agent"
kind: "repo-root"
run:
  replay_id: "2222222222222222222222222222222222222222222222222222222222222222"
-- theirs/.small/handoff.small.yml --
small_version: "1.0.0"
owner: "agent"
summary: "A run on the branch"
resume: {next_steps: []}
links: []
replayId: {value: "2222222222222222222222222222222222222222222222222222222222222222", source: "manual"}
`,
	Fork: checkForkRun,
}

func checkForkRun(v *forkView, r *reporter) {
	if !v.bothChanged(currentRun) {
		return
	}
	target, _ := currentRun(v.target)
	head, _ := currentRun(v.head)
	r.add(Finding{
		Path: small.Handoff.Path(v.dir), subject: "fork",
		Message: fmt.Sprintf("%s and %s each started a run since they parted: %.12s… and %.12s…", v.targetName, v.headName, target, head),
		Fix:     "let one run end before the other begins; or merge explicitly, and regenerate the handoff for a run that follows both",
	})
}
