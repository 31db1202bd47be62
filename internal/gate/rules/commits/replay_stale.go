package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// ReplayStale is replay/stale: intent or constraints changed in meaning, and the replay id did not.
var ReplayStale = rule.New("replay/stale", finding.SeverityWarning, finding.StageHistory, rule.On(checkReplayStale))

func checkReplayStale(v *subject.CommitWork, r *rule.Reporter) {
	changed := staleIntent(v)
	if changed == nil {
		return
	}
	first := changed[0]
	what, verb := artifactWord(first.Artifact), "has"
	if len(changed) > 1 {
		what, verb = what+" and "+artifactWord(changed[1].Artifact), "have"
	}
	fix := "who changed it decides: if the work so far counts, nothing is to be done; if a new run begins, small-hook replay-id --write gives it an id of its own"
	if v.RunOver {
		fix = subject.BeginRun(v.Dir, v.Commit)
	}
	r.Add(finding.Finding{
		Path: first.Artifact.Path(v.Dir), Line: first.Pos.Line, Column: first.Pos.Column, Subject: first.Key,
		Message: fmt.Sprintf("%s %s changed in meaning, but %s keeps the same replay id", what, verb, small.Handoff.Path(v.Dir)),
		Fix:     fix,
	})
}

// staleIntent are the changes of what intent and constraints say, if the replay id is the same after them.
func staleIntent(v *subject.CommitWork) (changed []subject.HumanChange) {
	for _, c := range v.HumanChanges {
		if v.SameReplayID && len(c.Changes) > 0 { // it was there, and it is
			changed = append(changed, c)
		}
	}
	return changed
}
