package gate

var ruleWorkflowCheckpoint = Rule{
	ID: "workflow/checkpoint", Severity: SeverityWarning, Stage: StageLint,
	Summary: "a workflow merges without asking a person once code is written",
	Why: `A workflow ends in a merge, and agents do each of its phases. A checkpoint is the one place where a
person sees what is about to happen and can say no. Who agrees to a plan has not seen the code: without
a checkpoint where the code is written, or after it, the first person to see the work is the one who
finds what it broke. Give that phase or a later one interactive_checkpoint: true. A phase without an
agent (agent: ~) counts too if its name or status says that a person acts, such as "human-approval". In a
workflow that writes no code any phase will do. If somebody is asked elsewhere, by a protected branch,
set this rule to off. It looks at the workflows job, job-fast, job-deep and campaign, at those whose kind
is job or campaign, and at those that give no kind and have a phase that codes.`,
	Wrong: `
-- .small-gate.yml --
version: 1
workflows: {}
-- workflows/ship/workflow.md --
---
kind: job
phases:
  - {name: planning, agent: agents/planner.md, interactive_checkpoint: true}
  - {name: coding, agent: agents/planner.md}
---
-- agents/planner.md --
Plan the work.
`,
	Right: `
-- .small-gate.yml --
version: 1
workflows: {}
-- workflows/ship/workflow.md --
---
kind: job
phases:
  - {name: planning, agent: agents/planner.md}
  - {name: coding, agent: agents/planner.md, interactive_checkpoint: true}
---
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
