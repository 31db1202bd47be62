package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/ledger"
)

var ruleLogDeleted = Rule{
	ID: "append-only/log-deleted", Severity: SeverityError, Stage: StageHistory,
	Edit:   ledger.LogEnded,
	Checks: []RuleCheck{On(checkLogDeleted)},
}

// checkLogDeleted reports a log that the child does not have. Whether it has
// moved is found out before.
func checkLogDeleted(e *LogEdge, r *Reporter) {
	if e.now != nil {
		return
	}
	head := e.old.Head().String()
	r.Add(Finding{
		Path: e.path, EditFrom: head,
		edits:   []editKey{{path: e.path, from: head}},
		Message: fmt.Sprintf("the log with %s is gone", count(e.old.Len(), "entry")),
		Fix:     e.remedies.BringBack(),
	})
}
