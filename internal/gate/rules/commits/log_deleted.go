package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/wording"
)

// LogDeleted is append-only/log-deleted: a progress log disappeared.
var LogDeleted = rule.Rule{
	ID: "append-only/log-deleted", Severity: finding.SeverityError, Stage: finding.StageHistory,
	Edit:   ledger.LogEnded,
	Checks: []rule.Check{rule.On(checkLogDeleted)},
}

func checkLogDeleted(e *subject.LogChange, r *rule.Reporter) {
	if e.New != nil {
		return
	}
	head := e.Old.Head().String()
	severity := finding.SeverityError
	if e.Old.Len() == 0 { // nothing was lost
		severity = finding.SeverityWarning
	}
	r.Add(finding.Finding{
		Path: e.Path, EditFrom: head, Severity: severity,
		Edits:   []finding.EditKey{{Path: e.Path, From: head}},
		Message: fmt.Sprintf("the log with %s is gone", wording.Count(e.Old.Len(), "entry")),
		Fix:     e.Undo(),
	})
}
