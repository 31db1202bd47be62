package gate

var ruleWorkflowFrontMatter = Rule{
	ID: "workflow/front-matter", Severity: SeverityError, Stage: StageValidate,
	Summary: "a workflow file has no front matter, or it does not have the form of one",
	Why: `A workflow is a Markdown file whose first lines, between two lines of three dashes, say in YAML which
phases the work goes through; the prose below is for people. A program runs what stands in front, so a
key that it does not know is mostly a misspelt one, and what was meant by it does not happen: a
checkpoint that nobody is asked at, a list of tools that limits nothing. Write what the message asks
for; docs/workflows.md lists the keys.`,
	Wrong: `
-- workflows/ship/workflow.md --
---
display_name: Ship
phases:
  - {name: planning, agent: agents/planner.md, interactive_check: true}
---

How the work goes, for people.
-- agents/planner.md --
Plan the work.
`,
	Right: `
-- workflows/ship/workflow.md --
---
display_name: Ship
phases:
  - {name: planning, agent: agents/planner.md, interactive_checkpoint: true}
---

How the work goes, for people.
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
