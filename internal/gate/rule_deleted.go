package gate

import "github.com/small-gate/small-gate/internal/ledger"

var ruleDeleted = Rule{
	ID: "append-only/deleted", Severity: SeverityError, Stage: StageHistory,
	Edit:   ledger.EntryLost,
	Checks: []RuleCheck{On(checkDeleted)},
}

// checkDeleted leaves what a merge loses to divergence/lost-entry.
func checkDeleted(e *LogEdge, r *Reporter) {
	if e.merge {
		return
	}
	for _, x := range e.ofKind(editDeleted) {
		f := e.finding(x)
		f.Message = entryWords(e.old.Entries[x.before]) + " was deleted"
		f.Fix = e.remedies.BringBack()
		r.Add(f)
	}
}
