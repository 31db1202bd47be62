package commits

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// ReplayStale is replay/stale: intent or constraints changed in meaning, and the replay id did not.
var ReplayStale = rule.Rule{
	ID: "replay/stale", Severity: finding.SeverityWarning, Stage: finding.StageHistory,
	Checks: []rule.Check{rule.On(checkReplayStale)},
}

func checkReplayStale(v *subject.CommitWork, r *rule.Reporter) {
	var changed []string
	var first *subject.HumanChange
	for i := range v.HumanChanges {
		if c := &v.HumanChanges[i]; len(c.Changes) > 0 { // it was there, and it is
			changed = append(changed, artifactWord(c.Artifact))
			first = cmp.Or(first, c)
		}
	}
	if !v.SameReplayID || first == nil {
		return
	}
	verb := "has"
	if len(changed) > 1 {
		verb = "have"
	}
	r.Add(finding.Finding{
		Path: first.Artifact.Path(v.Dir), Line: first.Pos.Line, Column: first.Pos.Column, Subject: first.Key,
		Message: fmt.Sprintf("%s %s changed in meaning, but %s keeps the same replay id", strings.Join(changed, " and "), verb, small.Handoff.Path(v.Dir)),
		Fix:     subject.BeginRun(v.Dir, v.Commit),
	})
}
