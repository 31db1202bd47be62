package gate

import "fmt"

var ruleQAPending = Rule{
	ID: "lane/qa-pending", Severity: SeverityWarning, Stage: StageHistory,
	Checks: []RuleCheck{On(func(s LaneLanding, r *Reporter) {
		for _, pattern := range s.untried {
			r.Add(Finding{
				Path: s.log, subject: s.head + " " + pattern,
				Message: fmt.Sprintf("commit %s landed in lane %q, and neither it nor a later commit adds a %q entry with evidence", short(s.head), s.claim.Lane, pattern),
				Fix:     recordCommand(s.LaneChange, pattern),
			})
		}
	})},
}
