package gate

import "github.com/small-gate/small-gate/internal/small"

var ruleVersionQuoting = Rule{
	ID: "lint/version-quoting", Severity: SeverityWarning, Stage: StageLint,
	Summary: "small_version is written without quotes",
	Why: `The version is a text. Without quotes it is one only because it has two dots: YAML reads a bare 1.0
as a number, and some readers are stricter or looser than others. Formatters and serialisers that
drop quotes where they seem unneeded do this. Put the quotes back; a setting for the formatter, or
an exception for .small/, keeps them there.`,
	Wrong: `
-- .small/plan.small.yml --
small_version: 1.0.0
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export"}
`,
	Right: `
-- .small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export"}
`,
	Snapshot: checkVersionQuoting,
}

func checkVersionQuoting(w *Workspace, r *reporter) {
	for _, a := range small.Artifacts {
		v := w.doc(a).Get("small_version")
		if _, ok := v.Str(); !ok || !v.Plain {
			continue
		}
		r.add(Finding{
			Path: w.path(a), Line: v.Pos.Line, Column: v.Pos.Column, subject: "small_version",
			Message: "small_version is written without quotes; other YAML readers could take it for a number",
			Fix:     `write small_version: "` + small.Version + `"`,
		})
	}
}
