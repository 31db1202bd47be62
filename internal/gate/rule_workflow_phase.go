package gate

var ruleWorkflowPhase = Rule{
	ID: "workflow/phase", Severity: SeverityError, Stage: StageVerify,
	Summary: "a phase of a workflow is there twice, is named and not there, has no agent, or asks for an unknown tier",
	Why: `The name of a phase is its id: a job's record, an override and a switch of workflows refer to it. If it
is there twice, or if what refers to it is misspelt, the harness begins somewhere else than was meant,
or nowhere. A phase without an agent is work that nobody does; only coordinating and tracking are the
harness's own. A tier is planning, coding or mini; a model is named by its own key.`,
	Wrong: `
-- workflows/ship/workflow.md --
---
phases:
  - {name: planning, agent: agents/planner.md}
  - {name: planning, agent: agents/planner.md}
---

How the work goes, for people.
-- agents/planner.md --
Plan the work.
`,
	Right: `
-- workflows/ship/workflow.md --
---
phases:
  - {name: planning, agent: agents/planner.md}
  - {name: tracking, agent: null}
---

How the work goes, for people.
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
