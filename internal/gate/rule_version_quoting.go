package gate

import "github.com/small-gate/small-gate/internal/small"

var ruleVersionQuoting = Rule{
	ID: "lint/version-quoting", Severity: SeverityWarning, Stage: StageLint,
	Checks: []RuleCheck{On(checkVersionQuoting)},
}

func checkVersionQuoting(w *Workspace, r *Reporter) {
	for _, a := range small.Artifacts {
		v := w.doc(a).Get("small_version")
		if _, ok := v.Str(); !ok || !v.Plain {
			continue
		}
		r.Add(Finding{
			Path: w.path(a), Line: v.Pos.Line, Column: v.Pos.Column, subject: "small_version",
			Message: "small_version is written without quotes; other YAML readers could take it for a number",
			Fix:     `write small_version: "` + small.Version + `"`,
		})
	}
}
