package gate

var ruleWorkflowShape = Rule{
	ID: "workflow/shape", Severity: SeverityWarning, Stage: StageLint,
	Summary: "a workflow with a well-known name lacks what its lane promises",
	Why: `Who reads that a change went through "job-deep" believes that somebody analysed it before and tested it
after. The names job, job-fast, job-deep and campaign stand for lanes, and each promises its phases: a
FAST job plans, codes with a reviewer beside, and verifies; a STANDARD one writes a specification
before, and reviews and evaluates after; a DEEP one adds analysis and qa. Both begin with the
specification, so an initial_phase that skips it is a finding. More phases are fine. Add the one that is
missing, or give the workflow a name of its own, by which nobody is promised anything.`,
	Wrong: `
-- .small-gate.yml --
version: 1
workflows: {}
-- workflows/job-fast/workflow.md --
---
phases:
  - {name: planning, agent: agents/worker.md}
  - {name: coding, agent: agents/worker.md, subagents: [{name: code-reviewer, agent: agents/worker.md}], interactive_checkpoint: true}
---
-- agents/worker.md --
Do the work.
`,
	Right: `
-- .small-gate.yml --
version: 1
workflows: {}
-- workflows/job-fast/workflow.md --
---
phases:
  - {name: planning, agent: agents/worker.md}
  - {name: coding, agent: agents/worker.md, subagents: [{name: code-reviewer, agent: agents/worker.md}], interactive_checkpoint: true}
  - {name: review-and-verify, agent: agents/worker.md}
---
-- agents/worker.md --
Do the work.
`,
	Workflow: checkShape,
}

func checkShape(v *workflowView, r *reporter) {
	if v.workflow == nil {
		return
	}
	for _, p := range v.workflow.CheckShape() {
		r.add(problemFinding(v.path, p))
	}
}
