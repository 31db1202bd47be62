package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleUnreconciledPlan = Rule{
	ID: "lint/unreconciled-plan", Severity: SeverityWarning, Stage: StageHistory,
	Summary: "the plan drops or reopens a task that progress calls completed",
	Why: `A plan may change at any time, but then it is reconciled with what has happened. A task that progress
calls completed and the plan forgets, or opens again, leaves whoever resumes with two stories. Append an
entry for meta/reconcile-plan, status completed, in the same change, whose evidence says what became of
the task: it was split, it turned out not to be done, its result was thrown away.`,
	Wrong: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-2"
    status: "completed"
    evidence: "checkpoints are written"
-- 2/.small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export"}
`,
	Right: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-2"
    status: "completed"
    evidence: "checkpoints are written"
-- 2/.small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export"}
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-2"
    status: "completed"
    evidence: "checkpoints are written"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "meta/reconcile-plan"
    status: "completed"
    evidence: "task-2 is done and left the plan"
`,
	Work: checkUnreconciledPlan,
}

func checkUnreconciledPlan(v *workView, r *reporter) {
	for _, l := range v.lostWork {
		what := fmt.Sprintf("drops task %q", l.task)
		if !l.gone {
			what = fmt.Sprintf("opens task %q again (%s)", l.task, l.status)
		}
		r.add(Finding{
			Path: small.Plan.Path(v.dir), Line: l.pos.Line, Column: l.pos.Column, subject: "task " + l.task,
			Entry: refOf(l.entry), EditTo: l.entry.Digest.String(),
			Message: fmt.Sprintf("the plan %s, which progress calls completed: %s", what, entryWords(l.entry)),
			Fix:     fmt.Sprintf("append an entry with task_id: %q, status: \"completed\" and evidence that says what became of the task", reconcilePlan),
		})
	}
}
