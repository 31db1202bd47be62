package commits

import (
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
)

// Deleted is append-only/deleted: an earlier entry was deleted.
var Deleted = rule.Rule{
	ID: "append-only/deleted", Severity: finding.SeverityError, Stage: finding.StageHistory,
	Edit:   ledger.EntryLost,
	Checks: []rule.Check{rule.On(checkDeleted)},
}

// checkDeleted leaves what a merge loses to divergence/lost-entry.
func checkDeleted(e *subject.LogChange, r *rule.Reporter) {
	if e.Merge {
		return
	}
	for _, x := range e.OfKind(ledger.EditDeleted) {
		f := e.Finding(x)
		f.Message = ledger.Describe(e.Old.Entries[x.OldIndex]) + " was deleted"
		if e.Uncommitted {
			f.Message += " before it was committed: a writer without a guard has written over it"
		}
		f.Fix = e.Undo()
		r.Add(f)
	}
}
