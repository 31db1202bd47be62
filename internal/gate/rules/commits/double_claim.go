package commits

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// DoubleClaim is divergence/double-claim: two branches both recorded work on the same task.
var DoubleClaim = rule.New("divergence/double-claim", finding.SeverityWarning, finding.StageHistory, rule.On(checkDoubleClaim))

func checkDoubleClaim(v *subject.WorkspaceFork, r *rule.Reporter) {
	claimed := map[string]ledger.Entry{}
	copied := map[small.Digest]bool{} // one event, on both sides
	for _, pair := range v.Duplicates {
		copied[pair[0].Digest], copied[pair[1].Digest] = true, true
	}
	for _, e := range v.TargetOnly {
		if _, seen := claimed[e.TaskID]; !seen && e.TaskID != "" && !copied[e.Digest] && !strings.HasPrefix(e.TaskID, ledger.MetaPrefix) {
			claimed[e.TaskID] = e
		}
	}
	for _, e := range v.HeadOnly {
		other, both := claimed[e.TaskID]
		if !both || copied[e.Digest] {
			continue
		}
		delete(claimed, e.TaskID)
		r.Add(finding.Finding{
			Path: small.Progress.Path(v.Dir), Line: e.Pos.Line, Column: e.Pos.Column, Subject: "fork " + e.TaskID,
			Entry: finding.RefOf(other), EntryAfter: finding.RefOf(e),
			Message: fmt.Sprintf("task %q has work on both branches: %s on %s, %s on %s",
				e.TaskID, ledger.Describe(other), v.TargetName, ledger.Describe(e), v.HeadName),
			Fix: "review what each side did before you merge, and give each agent its own tasks",
		})
	}
}
