package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleForkRun = Rule{
	ID: "divergence/run", Severity: SeverityError, Stage: StageHistory,
	Checks: []RuleCheck{On(checkForkRun)},
}

func checkForkRun(v *WorkspaceFork, r *Reporter) {
	if !v.bothChanged(currentRun) {
		return
	}
	target, _ := currentRun(v.target)
	head, _ := currentRun(v.head)
	r.Add(Finding{
		Path: small.Handoff.Path(v.dir), subject: "fork",
		Message: fmt.Sprintf("%s and %s each started a run since they parted: %.12s… and %.12s…", v.targetName, v.headName, target, head),
		Fix:     "let one run end before the other begins; or merge explicitly, and regenerate the handoff for a run that follows both",
	})
}
