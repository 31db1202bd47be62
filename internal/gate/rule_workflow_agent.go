package gate

import "strings"

var ruleWorkflowAgent = Rule{
	ID: "workflow/agent", Severity: SeverityError, Stage: StageVerify,
	Summary: "a workflow names an agent file that does not exist",
	Why: `A phase is done by the agent whose file it names. Where that file is missing, the harness stops in the
middle of a job, or runs the phase without the instructions that were written for it. It goes missing
when an agent is renamed or moved, and when a workflow is copied to another place without its agents.
Paths count from the folder that holds "workflows". Where workflows are laid over those of another
folder, name that folder in .small-gate.yml (workflows: {roots: [...]}); where that folder is not in the
repository, write workflows: {agents: optional}, and this is a warning. The path may be a symbolic link
that leads straight to a file of the repository.`,
	Wrong: `
-- .small-gate.yml --
version: 1
workflows: {}
-- workflows/ship/workflow.md --
---
phases:
  - {name: planning, agent: agents/planer.md}
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
---
-- agents/planner.md --
Plan the work.
`,
	Workflow: checkAgents,
}

func checkAgents(v *workflowView, r *reporter) {
	for _, a := range v.missing {
		f := Finding{Path: v.path, Line: a.Pos.Line, Column: a.Pos.Column, subject: a.Subject}
		names := a.Of + " names the agent file " + quote(a.Text)
		switch {
		case len(a.Paths) == 0:
			f.Message = names + ", which lies outside the folders where agents are looked for"
			f.Fix = "write its path from the folder that holds \"workflows\", such as agents/planner.md, or name its folder in .small-gate.yml (workflows: {roots: [...]})"
		case a.link != "":
			f.Message = names + ", a symbolic link that leads to no file of this repository"
			f.Fix = "have the link " + quote(a.link) + " lead straight to a file, or put the file in its place"
		default:
			f.Message = names + ", which does not exist"
			places := make([]string, len(a.Paths))
			for i, at := range a.Paths {
				places[i] = quote(at)
			}
			f.Fix = "commit a file at " + strings.Join(places, " or ") + ", or correct the path"
		}
		if v.optional {
			f.Severity = SeverityWarning
		}
		r.add(f)
	}
}
