package process

import (
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/wording"
)

// WorkflowAgent is workflow/agent: a workflow names an agent file that does not exist.
var WorkflowAgent = rule.New("workflow/agent", finding.SeverityError, finding.StageVerify, rule.On(checkAgents))

func checkAgents(v *subject.WorkflowFile, r *rule.Reporter) {
	for _, a := range v.Missing {
		f := finding.Finding{Path: v.Path, Line: a.Pos.Line, Column: a.Pos.Column, Subject: a.Subject}
		names := a.Of + " names the agent file " + wording.Quote(a.Text)
		switch {
		case len(a.Paths) == 0:
			f.Message = names + ", which lies outside the folders where agents are looked for"
			f.Fix = "write its path from the folder that holds \"workflows\", such as agents/planner.md, or name its folder in .small-gate.yml (workflows: {roots: [...]})"
		case a.Link != "":
			f.Message = names + ", which is a symbolic link to no file in this repository"
			f.Fix = "point the link " + wording.Quote(a.Link) + " at a file, or replace it with the file"
		default:
			f.Message = names + ", which does not exist"
			places := make([]string, len(a.Paths))
			for i, at := range a.Paths {
				places[i] = wording.Quote(at)
			}
			f.Fix = "commit a file at " + strings.Join(places, " or ") + ", or correct the path"
		}
		if v.Optional {
			f.Severity = finding.SeverityWarning
		}
		r.Add(f)
	}
}
