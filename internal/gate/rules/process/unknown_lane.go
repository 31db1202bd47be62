package process

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
)

// UnknownLane is lane/unknown: a trailer, a label or an entry claims a lane that does not exist.
var UnknownLane = rule.New("lane/unknown", finding.SeverityError, finding.StageHistory, rule.On(func(s *subject.LaneChange, r *rule.Reporter) {
	known := strings.Join(policy.LaneNames, ", ")
	for _, u := range s.Unknown {
		f := finding.Finding{Commit: u.Commit, Parent: r.Parent, Subject: u.Name} // and no path: neither a message nor a label is a place in a file
		if u.Commit == "" {
			f.Message = fmt.Sprintf("a label claims the unknown lane %q; the lanes are %s", u.Name, known)
			f.Fix = fmt.Sprintf("label the change with one of %[1]s%[2]s instead"+repeatedRun, lane.LabelPrefix, strings.Join(policy.LaneNames, ", "+lane.LabelPrefix))
		} else {
			who := "commit " + history.Short(u.Commit)
			f.Fix = trailerCommand(cmp.Or(s.Claim.Lane, lane.Standard))
			if u.Commit == history.Index {
				who = "the index"
				f.Fix = switchInIndex(s, cmp.Or(s.Claim.Lane, lane.Standard))
			}
			f.Message = fmt.Sprintf("%s claims the unknown lane %q; the lanes are %s", who, u.Name, known)
		}
		r.Add(f)
	}
}))
