package gate

import (
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/lane"
)

var ruleEscalated = Rule{
	ID: "lane/escalated-without-record", Severity: SeverityError, Stage: StageHistory,
	Checks: []RuleCheck{On(func(s *LaneChange, r *Reporter) {
		from, to := s.most[s.head], s.at[s.head]
		recorded := s.jobSwitched || slices.ContainsFunc(s.switchedTo, func(l lane.Lane) bool { return !to.Lane.Less(l) })
		if !to.Lane.Less(from.Lane) || recorded {
			return
		}
		r.Add(Finding{
			Commit: to.Commit, Parent: from.Commit, Path: s.log, subject: string(from.Lane) + " " + string(to.Lane),
			Message: fmt.Sprintf("commit %s goes down to lane %q from lane %q of commit %s, and this change adds no entry for %s that says why",
				short(to.Commit), to.Lane, from.Lane, short(from.Commit), lane.SwitchTask),
			Fix: switchCommand(s, to.Lane),
		})
	})},
}
