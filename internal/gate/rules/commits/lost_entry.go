package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
)

// LostEntry is divergence/lost-entry: a merge lost an entry of one side.
var LostEntry = rule.Rule{
	ID: "divergence/lost-entry", Severity: finding.SeverityError, Stage: finding.StageHistory,
	Edit:   ledger.EntryLost,
	Checks: []rule.Check{rule.On(checkLostEntry)},
}

func checkLostEntry(e *subject.LogChange, r *rule.Reporter) {
	if !e.Merge {
		return
	}
	for _, x := range e.OfKind(ledger.EditDeleted) {
		f := e.Finding(x)
		f.Message = fmt.Sprintf("the merge lost %s of %s", ledger.Describe(e.Old.Entries[x.OldIndex]), e.Side)
		f.Fix = e.Undo()
		r.Add(f)
	}
}
