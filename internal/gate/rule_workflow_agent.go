package gate

import (
	"fmt"
	"strings"
)

var ruleWorkflowAgent = Rule{
	ID: "workflow/agent", Severity: SeverityError, Stage: StageVerify,
	Summary: "a workflow names an agent file that is not there",
	Why: `A phase is done by the agent whose file it names. Where that file is missing, the harness stops in the
middle of a job, or runs the phase without the instructions that were written for it. It goes missing
when an agent is renamed or moved, and when a workflow is copied to another place without its agents.
Paths count from the folder that holds "workflows". Where workflows are laid over those of another
folder, name that folder under "workflows: {roots: [...]}" in .small-gate.yml. A symbolic link serves as
long as it leads to a file inside the repository; a directory, and what lies in a submodule, does not.`,
	Wrong: `
-- workflows/ship/workflow.md --
---
phases:
  - {name: planning, agent: agents/planer.md}
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
---

How the work goes, for people.
-- agents/planner.md --
Plan the work.
`,
	Workflow: checkAgents,
}

func checkAgents(v *workflowView, r *reporter) {
	for _, a := range v.missing {
		f := Finding{
			Path: v.path, Line: a.Pos.Line, Column: a.Pos.Column, subject: a.Subject,
			Message: fmt.Sprintf("%s names the agent file %s, %s", a.Of, quote(a.Text), a.fate.why),
			Fix:     a.fate.fix,
		}
		switch {
		case a.since != "":
			f.Message += "; before this change it was there"
			f.Fix = lostAgentFix(a)
		case len(a.Paths) == 0:
			f.Message = fmt.Sprintf("%s names the agent file %s, which lies outside the folders where agents are looked for", a.Of, quote(a.Text))
			f.Fix = "put the file " + folderWords(a.Folders) + ", and write its path as it is seen from there, such as agents/planner.md"
		case f.Fix == "" && strings.Contains(a.Text, `\`):
			f.Fix = "write the path with slashes: " + typedPath(strings.ReplaceAll(a.Text, `\`, "/"))
		case f.Fix == "" && strings.HasSuffix(a.Text, "/"):
			f.Fix = "write the path of a file, without a slash at its end: " + typedPath(strings.TrimRight(a.Text, "/"))
		case f.Fix == "":
			var places []string
			for _, at := range a.Paths {
				places = append(places, typedPath(at))
			}
			f.Fix = "commit " + strings.Join(places, " or ") + ", or correct the path"
		}
		r.add(f)
	}
}

// lostAgentFix says what to do about an agent file that a change takes away.
func lostAgentFix(a missingAgent) string {
	back := "put back what is there in " + short(a.since)
	switch {
	case a.was != "":
		back = "put the file back (git checkout " + short(a.since) + " -- " + shellQuote(a.was) + ")"
	case a.fate.fix != "":
		back = a.fate.fix
	}
	return back + ", or change the workflow"
}

// folderWords says where agents' files are looked for.
func folderWords(folders []string) string {
	words := make([]string, len(folders))
	for i, folder := range folders {
		words[i] = "below " + typedPath(folder+"/")
		if folder == "" {
			words[i] = "below the repository's root"
		}
	}
	return strings.Join(words, " or ")
}
