package gate

import (
	"fmt"
)

var ruleWorkflowHistory = Rule{
	ID: ruleHistoryID, Severity: SeverityError, Stage: StageVerify,
	Summary: "a job's record does not hold together, or it loosens what was given from upstream",
	Why: `A switch history says by which way a job came to the workflow that it runs under. It holds together if
each switch begins where the one before it led, the last one leads to the workflow that is active, times
go forward, each has a reason, and the workflows and phases that it names are there. Where it does not,
a switch is missing: a change of lane that nobody recorded. Append it; an earlier one is never changed.
What params hold a job to comes from upstream and binds the change that edits it: params.lane is not
lowered or taken out, and a child of a campaign (params.epicAllowed is false) stays one and never becomes
a campaign itself. Every commit is compared with the one before it for that. Where upstream really has
decided otherwise, a waiver in .small-gate.yml excuses that one edit (small-hook waive).`,
	Wrong: `
-- .small-gate.yml --
version: 1
workflows: {jobs: ["jobs/*.json"]}
-- workflows/job-fast/workflow.md --
---
phases:
  - {name: planning, agent: agents/planner.md, interactive_checkpoint: true}
  - name: coding
    agent: agents/coder.md
    subagents: [{name: code-reviewer, agent: agents/coder.md}]
  - {name: review-and-verify, agent: agents/planner.md}
---
-- workflows/trial/workflow.md --
---
phases:
  - {name: planning, agent: agents/planner.md}
---
-- agents/planner.md --
Plan the work.
-- agents/coder.md --
Write the code.
-- jobs/7.json --
{
  "workflowPath": "workflows/trial/workflow.md",
  "workflowPathHistory": [
    {
      "at": "2026-03-01T09:10:00Z", "from": "workflows/trial/workflow.md", "to": "workflows/job-fast/workflow.md",
      "fromPhase": "planning", "toPhase": "coding", "reason": "small change", "by": "switch_workflow"
    }
  ]
}
`,
	Right: `
-- .small-gate.yml --
version: 1
workflows: {jobs: ["jobs/*.json"]}
-- workflows/job-fast/workflow.md --
---
phases:
  - {name: planning, agent: agents/planner.md, interactive_checkpoint: true}
  - name: coding
    agent: agents/coder.md
    subagents: [{name: code-reviewer, agent: agents/coder.md}]
  - {name: review-and-verify, agent: agents/planner.md}
---
-- workflows/trial/workflow.md --
---
phases:
  - {name: planning, agent: agents/planner.md}
---
-- agents/planner.md --
Plan the work.
-- agents/coder.md --
Write the code.
-- jobs/7.json --
{
  "workflowPath": "workflows/job-fast/workflow.md",
  "workflowPathHistory": [
    {
      "at": "2026-03-01T09:10:00Z", "from": "workflows/trial/workflow.md", "to": "workflows/job-fast/workflow.md",
      "fromPhase": "planning", "toPhase": "coding", "reason": "small change", "by": "switch_workflow"
    }
  ]
}
`,
	Workflow: checkHistory,
}

// ruleHistoryID is named by what knows edits of records.
const ruleHistoryID = "workflow/history-invalid"

func checkHistory(v *workflowView, r *reporter) {
	for _, l := range v.loosened {
		key := laneEdit(v.path, l.LaneFrom, l.LaneTo)
		if l.LaneFrom == "" {
			key = editKey{path: v.path, from: wordsDigest(l.Subject)}
		}
		keep, message := "put back "+l.Keep, l.Message
		if v.was != v.path {
			message += fmt.Sprintf(" (the record was %q)", v.was)
			keep += "; if it is the record of another job, add it in a commit of its own, or give the records ids"
		}
		r.add(Finding{
			Path: v.path, Line: l.Pos.Line, Column: l.Pos.Column, subject: l.Subject,
			EditFrom: key.from, EditTo: key.to, edits: []editKey{key},
			Message: message, Fix: r.undoing(v.path, v.parents, keep),
		})
	}
	if v.edge != nil {
		reportAhead(v.edge, r, switchWords, "", "correct the clock, and record the switch again before it is committed")
	}
	if !v.isRecord {
		return
	}
	if !v.isCampaign {
		for _, p := range v.problems {
			f := recordProblem(v.path, p)
			f.edits = unreadableAs(v.path, v.object, p)
			r.add(f)
		}
	}
	if v.record == nil {
		return
	}
	for _, p := range v.record.CheckSwitches(v.find) {
		r.add(recordProblem(v.path, p))
	}
}
