package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// DroppedLease is lease/dropped: a commit takes away another agent's lease.
var DroppedLease = rule.New("lease/dropped", finding.SeverityWarning, finding.StageHistory, rule.On(checkDroppedLease))

func checkDroppedLease(v *subject.CommitWork, r *rule.Reporter) {
	for _, l := range v.DroppedLeases {
		does, fix := "takes it away", fmt.Sprintf("copy the lease back into the plan; git show %s:%s has it", history.Short(v.Parent), wording.ShellWord(small.Plan.Path(v.Dir)))
		if l.Now != nil {
			does, fix = fmt.Sprintf("gives it to agent %q", l.Now.Agent), "leave the task to the lease's holder, or ask the holder to give it up in the plan"
		}
		r.Add(finding.Finding{
			Path: small.Plan.Path(v.Dir), Line: l.Task.Pos.Line, Column: l.Task.Pos.Column, Subject: "lease " + l.Task.ID,
			Message: fmt.Sprintf("agent %q has leased task %q until %s, and agent %q %s", l.Was.Agent, l.Task.ID, l.Was.Text, v.Agent, does),
			Fix:     fix,
		})
	}
}
