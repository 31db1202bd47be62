package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/ledger"
)

var ruleLostEntry = Rule{
	ID: "divergence/lost-entry", Severity: SeverityError, Stage: StageHistory,
	Edit:   ledger.EntryLost,
	Checks: []RuleCheck{On(checkLostEntry)},
}

func checkLostEntry(e *LogEdge, r *Reporter) {
	if !e.merge {
		return
	}
	for _, x := range e.ofKind(editDeleted) {
		f := e.finding(x)
		f.Message = fmt.Sprintf("the merge lost %s of %s", entryWords(e.old.Entries[x.before]), e.side)
		f.Fix = "keep every entry of both sides: " + e.remedies.Reconcile()
		r.Add(f)
	}
}
