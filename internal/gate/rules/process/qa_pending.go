package process

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
)

// QAPending is lane/qa-pending: a change that is to be tested after the merge has landed, and nobody has tested it yet.
var QAPending = rule.New("lane/qa-pending", finding.SeverityWarning, finding.StageHistory, rule.On(func(s subject.LaneLanding, r *rule.Reporter) {
	for _, pattern := range s.Pending {
		r.Add(finding.Finding{
			Path: s.Log, Subject: s.Head + " " + pattern,
			Message: fmt.Sprintf("commit %s landed in lane %q, and neither it nor a later commit adds a %q entry with evidence", history.Short(s.Head), s.Claim.Lane, pattern),
			Fix:     recordEntry(s.LaneChange, pattern),
		})
	}
}))
