package gate

var ruleWorkflowUnknownKey = Rule{
	ID: "workflow/unknown-key", Severity: SeverityWarning, Stage: StageValidate,
	Summary: "a workflow file has a key that no workflow has",
	Why: `A key that the harness does not know is mostly a misspelt one, and what was meant by it does not happen:
a checkpoint that nobody is asked at, a list of tools that limits nothing. Harnesses also have keys of
their own, so this is a warning: correct the key, or set this rule to off.`,
	Wrong: `
-- .small-gate.yml --
version: 1
workflows: {}
-- workflows/ship/workflow.md --
---
phases:
  - {name: planning, agent: agents/planner.md, interactive_check: true}
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
  - {name: planning, agent: agents/planner.md, interactive_checkpoint: true}
---
-- agents/planner.md --
Plan the work.
`,
	Workflow: checkUnknownKeys,
}

func checkUnknownKeys(v *workflowView, r *reporter) {
	for _, p := range v.unknown {
		r.add(problemFinding(v.path, p))
	}
}
