package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleForkPlan = Rule{
	ID: "divergence/plan", Severity: SeverityWarning, Stage: StageHistory,
	Checks: []RuleCheck{On(checkForkPlan)},
}

func checkForkPlan(v *WorkspaceFork, r *Reporter) {
	if !v.bothChanged(canonicalOf(small.Plan)) {
		return
	}
	severity := SeverityWarning
	if v.predicts {
		severity = SeverityError
	}
	r.Add(Finding{
		Severity: severity,
		Path:     small.Plan.Path(v.dir), subject: "fork",
		Message: fmt.Sprintf("%s and %s both changed the plan since they parted", v.targetName, v.headName),
		Fix:     "decide which plan holds when you merge, and record the decision as progress (meta/reconcile-plan)",
	})
}
