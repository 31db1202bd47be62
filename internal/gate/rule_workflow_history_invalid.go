package gate

var ruleWorkflowHistory = Rule{
	ID: "workflow/history-invalid", Severity: SeverityError, Stage: StageVerify,
	Summary: "a job's record does not hold together",
	Why: `A switch history says by which way a job came to the workflow that it runs under. It holds together if
each switch begins where the one before it led, the last one leads to the workflow that is active, times
go forward, each has a reason, and the workflows and phases that it names exist. Where it does not, a
switch is missing: a change of lane that nobody recorded. Append it; an earlier one is never changed.
params.lane, if it is there, names a lane, and a job with params.epicAllowed: false is a campaign's child
and is no campaign itself.`,
	Wrong: `
-- .small-gate.yml --
version: 1
workflows: {jobs: ["jobs/*.json"]}
-- workflows/small/workflow.md --
---
phases: [{name: planning, agent: ~}]
---
-- workflows/large/workflow.md --
---
phases: [{name: planning, agent: ~}]
---
-- jobs/7.json --
{
  "workflowPath": "workflows/small",
  "workflowPathHistory": [
    {"at": "2026-03-01T09:10:00Z", "from": "workflows/small", "to": "workflows/large", "fromPhase": "planning",
     "reason": "it touches the parser as well", "by": "switch_workflow"}
  ]
}
`,
	Right: `
-- .small-gate.yml --
version: 1
workflows: {jobs: ["jobs/*.json"]}
-- workflows/small/workflow.md --
---
phases: [{name: planning, agent: ~}]
---
-- workflows/large/workflow.md --
---
phases: [{name: planning, agent: ~}]
---
-- jobs/7.json --
{
  "workflowPath": "workflows/large",
  "workflowPathHistory": [
    {"at": "2026-03-01T09:10:00Z", "from": "workflows/small", "to": "workflows/large", "fromPhase": "planning",
     "reason": "it touches the parser as well", "by": "switch_workflow"}
  ]
}
`,
	Workflow: checkHistory,
}

func checkHistory(v *workflowView, r *reporter) {
	if v.isRecord && !v.isCampaign {
		reportUnreadable(v, r)
	}
	if v.record == nil {
		return
	}
	for _, p := range v.record.CheckSwitches(v.find) {
		r.add(problemFinding(v.path, p))
	}
}

// reportUnreadable reports why a record cannot be read, once for all the places
// where that is found.
func reportUnreadable(v *workflowView, r *reporter) {
	for _, p := range v.problems {
		f := problemFinding(v.path, p)
		f.edits = unreadableAs(v.path, v.object, p)
		r.add(f)
	}
}
