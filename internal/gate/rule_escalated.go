package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/lane"
)

var ruleEscalated = Rule{
	ID: "lane/escalated-without-record", Severity: SeverityError, Stage: StageHistory,
	Lane: func(v *laneView, r *reporter) {
		for _, s := range v.state.switches {
			if v.state.recorded || !s.to.Less(s.from) {
				continue
			}
			r.add(Finding{
				Path: v.log, subject: string(s.from) + " " + string(s.to),
				Message: fmt.Sprintf("commit %s goes down to lane %q from lane %q of commit %s, and this change adds no entry for %s with evidence",
					short(s.commit), s.to, s.from, short(s.parent), lane.SwitchTask),
				Fix: v.goOn(s.to),
			})
			last := &r.out[len(r.out)-1]
			last.Commit, last.Parent = s.commit, s.parent
		}
	},
}
