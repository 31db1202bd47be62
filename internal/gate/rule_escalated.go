package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/lane"
)

var ruleEscalated = Rule{
	ID: "lane/escalated-without-record", Severity: SeverityError, Stage: StageHistory,
	Lane: func(s *laneState, r *reporter) {
		for _, c := range s.switches {
			if s.recorded || !c.to.Less(c.from) {
				continue
			}
			r.commit, r.parent = c.commit, c.parent
			r.add(Finding{
				Path: s.log, subject: string(c.from) + " " + string(c.to),
				Message: fmt.Sprintf("commit %s goes down to lane %q from lane %q of commit %s, and this change adds no entry for %s with evidence",
					short(c.commit), c.to, c.from, short(c.parent), lane.SwitchTask),
				Fix: s.switchCommand(s.at[s.head].Lane), // a later commit may have gone up again
			})
		}
	},
}
