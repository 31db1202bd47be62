package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// ForkPlan is divergence/plan: two branches both changed the plan.
var ForkPlan = rule.New("divergence/plan", finding.SeverityWarning, finding.StageHistory, rule.On(checkForkPlan))

func checkForkPlan(v *subject.WorkspaceFork, r *rule.Reporter) {
	if !v.BothChanged(subject.CanonicalOf(small.Plan)) {
		return
	}
	severity := finding.SeverityWarning
	if v.Predicts {
		severity = finding.SeverityError
	}
	r.Add(finding.Finding{
		Severity: severity,
		Path:     small.Plan.Path(v.Dir), Subject: "fork",
		Message: fmt.Sprintf("%s and %s both changed the plan since they parted", v.TargetName, v.HeadName),
		Fix:     "when you merge, decide which plan holds, and record the decision in a meta/reconcile-plan entry",
	})
}
