package gate

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleDoubleClaim = Rule{
	ID: "divergence/double-claim", Severity: SeverityWarning, Stage: StageHistory,
	Checks: []RuleCheck{On(checkDoubleClaim)},
}

func checkDoubleClaim(v *WorkspaceFork, r *Reporter) {
	claimed := map[string]small.Entry{}
	for _, e := range v.targetOnly {
		if _, seen := claimed[e.TaskID]; !seen && e.TaskID != "" && !strings.HasPrefix(e.TaskID, small.MetaPrefix) {
			claimed[e.TaskID] = e
		}
	}
	for _, e := range v.headOnly {
		other, both := claimed[e.TaskID]
		if !both {
			continue
		}
		delete(claimed, e.TaskID)
		r.Add(Finding{
			Path: small.Progress.Path(v.dir), Line: e.Pos.Line, Column: e.Pos.Column, subject: "fork " + e.TaskID,
			Entry: refOf(other), EntryAfter: refOf(e),
			Message: fmt.Sprintf("task %q has work on both branches: %s on %s, %s on %s",
				e.TaskID, entryWords(other), v.targetName, entryWords(e), v.headName),
			Fix: "look at what each side did before you merge; give each agent tasks of its own",
		})
	}
}
