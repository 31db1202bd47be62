package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleUnreconciledPlan = Rule{
	ID: "lint/unreconciled-plan", Severity: SeverityWarning, Stage: StageHistory,
	Checks: []RuleCheck{On(checkUnreconciledPlan)},
}

func checkUnreconciledPlan(v *CommitWork, r *Reporter) {
	for _, l := range v.lostWork {
		what := fmt.Sprintf("drops task %q", l.task)
		if !l.gone {
			what = fmt.Sprintf("opens task %q again (%s)", l.task, l.status)
		}
		r.Add(Finding{
			Path: small.Plan.Path(v.dir), Line: l.pos.Line, Column: l.pos.Column, subject: "task " + l.task,
			Entry: refOf(l.entry), EditTo: l.entry.Digest.String(),
			Message: fmt.Sprintf("the plan %s, which progress calls completed: %s", what, entryWords(l.entry)),
			Fix:     fmt.Sprintf("append an entry with task_id: %q, status: \"completed\" and evidence that says what became of the task", reconcilePlan),
		})
	}
}
