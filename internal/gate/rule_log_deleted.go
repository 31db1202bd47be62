package gate

import "fmt"

var ruleLogDeleted = Rule{
	ID: "append-only/log-deleted", Severity: SeverityError, Stage: StageHistory,
	Edge: checkLogDeleted,
}

// checkLogDeleted reports a log that the child does not have. Whether it has
// moved is found out before.
func checkLogDeleted(e *edgeView, r *reporter) {
	if e.c != nil {
		return
	}
	head := e.p.Head().String()
	r.add(Finding{
		Path: e.path, EditFrom: head,
		edits:   []editKey{{path: e.path, from: head}},
		Message: fmt.Sprintf("the log with %s is gone", count(e.p.Len(), "entry")),
		Fix:     r.bringBack(e),
	})
}
