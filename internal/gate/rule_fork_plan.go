package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleForkPlan = Rule{
	ID: "divergence/plan", Severity: SeverityWarning, Stage: StageHistory,
	Summary: "two branches both changed the plan",
	Why: `A plan may change, but two plans that grew apart cannot be merged line by line: a task that one
branch closed and the other split would come out as both. It is a warning, since no evidence is lost;
only "small-hook merge-check" calls it an error, since that merge does not go through by itself.
Decide which plan holds before the merge, and record the decision as progress (meta/reconcile-plan).`,
	Wrong: `
-- ours/.small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - id: "task-1"
    title: "Read the export in one pass"
-- theirs/.small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - id: "task-1"
    title: "Read the export file by file"
`,
	Right: `
-- ours/README --
The plan stays as it is on this branch.
-- theirs/.small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - id: "task-1"
    title: "Read the export file by file"
`,
	Fork: checkForkPlan,
}

func checkForkPlan(v *forkView, r *reporter) {
	if !v.bothChanged(canonicalOf(small.Plan)) {
		return
	}
	severity := SeverityWarning
	if v.predicts {
		severity = SeverityError
	}
	r.add(Finding{
		Severity: severity,
		Path:     small.Plan.Path(v.dir), subject: "fork",
		Message: fmt.Sprintf("%s and %s both changed the plan since they parted", v.targetName, v.headName),
		Fix:     "decide which plan holds when you merge, and record the decision as progress (meta/reconcile-plan)",
	})
}
