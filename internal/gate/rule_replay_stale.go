package gate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleReplayStale = Rule{
	ID: "replay/stale", Severity: SeverityWarning, Stage: StageHistory,
	Checks: []RuleCheck{On(checkReplayStale)},
}

func checkReplayStale(v *CommitWork, r *Reporter) {
	var changed []string
	var first *humanChange
	for i := range v.human {
		if c := &v.human[i]; len(c.changes) > 0 { // it was there, and it is
			changed = append(changed, artifactWord(c.artifact))
			first = cmp.Or(first, c)
		}
	}
	if !v.stale || first == nil {
		return
	}
	verb := "has"
	if len(changed) > 1 {
		verb = "have"
	}
	r.Add(Finding{
		Path: first.artifact.Path(v.dir), Line: first.pos.Line, Column: first.pos.Column, subject: first.key,
		Message: fmt.Sprintf("%s %s changed in meaning, and %s goes on with the same replay id", strings.Join(changed, " and "), verb, small.Handoff.Path(v.dir)),
		Fix:     "start a new run and regenerate the handoff; `small-hook replay-id` prints the fingerprint of what is declared now",
	})
}
