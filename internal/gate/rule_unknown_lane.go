package gate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
)

var ruleUnknownLane = Rule{
	ID: "lane/unknown", Severity: SeverityError, Stage: StageHistory,
	Checks: []RuleCheck{On(func(s *LaneChange, r *Reporter) {
		known := strings.Join(policy.LaneNames, ", ")
		for _, u := range s.unknown {
			f := Finding{Commit: u.commit, Parent: r.Parent, subject: u.name} // and no path: neither a message nor a label is a place in a file
			if u.commit == "" {
				f.Message = fmt.Sprintf("a label claims lane %q; there are %s", u.name, known)
				f.Fix = fmt.Sprintf("label the change with one of %[1]s%[2]s instead"+repeatedRun, lane.LabelPrefix, strings.Join(policy.LaneNames, ", "+lane.LabelPrefix))
			} else {
				who := "commit " + short(u.commit)
				f.Fix = trailerCommand(cmp.Or(s.claim.Lane, lane.Standard))
				if u.commit == Index {
					who = "what is staged"
					f.Fix = switchCommand(s, cmp.Or(s.claim.Lane, lane.Standard))
				}
				f.Message = fmt.Sprintf("%s claims lane %q; there are %s", who, u.name, known)
			}
			r.Add(f)
		}
	})},
}
