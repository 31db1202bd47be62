package gate

var ruleWorkflowCheckpoint = Rule{
	ID: "workflow/checkpoint", Severity: SeverityWarning, Stage: StageLint,
	Summary: "a workflow merges without asking a person on the way",
	Why: `A workflow ends in a merge, and agents do each of its phases. A checkpoint is the one place where a
person sees what is about to happen and can say no: after the plan it costs least, before the merge it
shows most. Without any, the first person to see the work is the one who finds what it broke. Give one
phase interactive_checkpoint: true. If somebody is asked elsewhere, by a protected branch, set this rule
to off. It looks at the workflows job, job-fast, job-deep and campaign, at those whose kind is job or
campaign, and at those that say no kind and have a phase that codes; upper and lower case are the same.`,
	Wrong: `
-- workflows/ship/workflow.md --
---
kind: job
phases:
  - {name: planning, agent: agents/planner.md}
---

How the work goes, for people.
-- agents/planner.md --
Plan the work.
`,
	Right: `
-- workflows/ship/workflow.md --
---
kind: job
phases:
  - {name: planning, agent: agents/planner.md, interactive_checkpoint: true}
---

How the work goes, for people.
-- agents/planner.md --
Plan the work.
`,
	Workflow: checkCheckpoint,
}

func checkCheckpoint(v *workflowView, r *reporter) {
	if v.workflow == nil {
		return
	}
	for _, p := range v.workflow.CheckCheckpoint() {
		r.add(problemFinding(v.path, p))
	}
}
