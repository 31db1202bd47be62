package gate

var ruleWorkflowPhase = Rule{
	ID: "workflow/phase", Severity: SeverityError, Stage: StageVerify,
	Summary: "a phase of a workflow is there twice, is named and does not exist, mentions no agent, or asks for an unknown tier",
	Why: `The name of a phase is its id: a job's record, an override and a switch of workflows refer to it. If it
is there twice, or if what refers to it is misspelt, the harness begins somewhere else than was meant,
or nowhere. A phase that mentions no agent may be one whose agent was forgotten: write agent: ~ where that
is meant. Only coordinating and tracking, the harness's own, need not say so. A tier is planning, coding or mini; a model is named by its own key.`,
	Wrong: `
-- .small-gate.yml --
version: 1
workflows: {}
-- workflows/ship/workflow.md --
---
phases:
  - {name: planning, agent: agents/planner.md}
  - {name: planning, agent: agents/planner.md}
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
phases:
  - {name: planning, agent: agents/planner.md}
  - {name: approval, agent: ~}
---
-- agents/planner.md --
Plan the work.
`,
	Workflow: checkPhases,
}

func checkPhases(v *workflowView, r *reporter) {
	if v.workflow == nil {
		return
	}
	for _, p := range v.workflow.CheckPhases() {
		r.add(problemFinding(v.path, p))
	}
}
