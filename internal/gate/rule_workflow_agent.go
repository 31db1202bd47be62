package gate

import "strings"

var ruleWorkflowAgent = Rule{
	ID: "workflow/agent", Severity: SeverityError, Stage: StageVerify,
	Checks: []RuleCheck{On(checkAgents)},
}

func checkAgents(v *WorkflowFile, r *Reporter) {
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
		r.Add(f)
	}
}
