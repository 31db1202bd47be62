package gate

import "fmt"

var ruleQAPending = Rule{
	ID: "lane/qa-pending", Severity: SeverityWarning, Stage: StageHistory,
	Lane: func(v *laneView, r *reporter) {
		for _, pattern := range v.untried {
			r.add(Finding{
				Path: v.log, subject: v.state.head + " " + pattern,
				Message: fmt.Sprintf("commit %s landed in lane %q, and neither it nor a later commit adds a %q entry with evidence", short(v.state.head), v.state.claim.Lane, pattern),
				Fix:     v.record(pattern),
			})
		}
	},
}
