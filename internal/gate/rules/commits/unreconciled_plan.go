package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// UnreconciledPlan is lint/unreconciled-plan: the plan drops or reopens a task that progress calls completed.
var UnreconciledPlan = rule.New("lint/unreconciled-plan", finding.SeverityWarning, finding.StageHistory, rule.On(checkUnreconciledPlan))

// checkUnreconciledPlan says once of a run that is over that a new one has to begin, and nothing if another rule says it.
func checkUnreconciledPlan(v *subject.CommitWork, r *rule.Reporter) {
	lost := v.LostTasks
	switch {
	case v.RunOver && staleIntent(v) != nil:
		return
	case v.RunOver && len(lost) > 0:
		lost = lost[:1]
	}
	for _, l := range lost {
		what := fmt.Sprintf("drops task %q", l.Task)
		if !l.Dropped {
			what = fmt.Sprintf("reopens task %q (%s)", l.Task, l.Status)
		}
		fix := subject.Reconciled(v.Dir, v.Commit, "the plan "+what) + "; better evidence says what became of the task"
		if v.RunOver {
			fix = subject.BeginRun(v.Dir, v.Commit)
		}
		r.Add(finding.Finding{
			Path: small.Plan.Path(v.Dir), Line: l.Pos.Line, Column: l.Pos.Column, Subject: "task " + l.Task,
			Entry: finding.RefOf(l.Entry), EditTo: l.Entry.Digest.String(),
			Message: fmt.Sprintf("the plan %s, which progress calls completed: %s", what, ledger.Describe(l.Entry)),
			Fix:     fix,
		})
	}
}
