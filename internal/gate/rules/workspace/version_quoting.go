package workspace

import (
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// VersionQuoting is lint/version-quoting: small_version is written without quotes.
var VersionQuoting = rule.New("lint/version-quoting", finding.SeverityWarning, finding.StageLint, rule.On(checkVersionQuoting))

func checkVersionQuoting(w *subject.Workspace, r *rule.Reporter) {
	for _, a := range small.Artifacts {
		v := w.Doc(a).Get("small_version")
		if _, ok := v.Str(); !ok || !v.Plain {
			continue
		}
		r.Add(finding.Finding{
			Path: w.Path(a), Line: v.Pos.Line, Column: v.Pos.Column, Subject: "small_version",
			Message: "small_version is written without quotes; other YAML readers may read it as a number",
			Fix:     subject.FixVersions(w.Dir, w.Commit),
		})
	}
}
