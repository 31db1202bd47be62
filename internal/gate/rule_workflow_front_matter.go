package gate

var ruleWorkflowFrontMatter = Rule{
	ID: "workflow/front-matter", Severity: SeverityError, Stage: StageValidate,
	Summary: "a workflow file has no front matter, or it does not have the form of one",
	Why: `A workflow is a Markdown file whose first lines, between two lines of three dashes, say in YAML which
phases the work goes through; the prose below is for people. A program runs what stands in front. Where it
is not YAML, lacks the phases, or has a word where a list or a truth value belongs, the job does not
start, or starts as something else. docs/workflows.md lists the keys.`,
	Wrong: `
-- .small-gate.yml --
version: 1
workflows: {}
-- workflows/ship/workflow.md --
---
phases:
  - {name: planning, agent: agents/planner.md, interactive_checkpoint: often}
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
	Workflow: checkFrontMatter,
}

func checkFrontMatter(v *workflowView, r *reporter) {
	if v.isRecord {
		return
	}
	for _, p := range v.problems {
		r.add(problemFinding(v.path, p))
	}
}
