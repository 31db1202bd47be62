package gate

import "fmt"

var ruleLostEntry = Rule{
	ID: "divergence/lost-entry", Severity: SeverityError, Stage: StageHistory,
	Edge: checkLostEntry,
}

func checkLostEntry(e *edgeView, r *reporter) {
	if !e.merge {
		return
	}
	for _, x := range e.ofKind(editDeleted) {
		f := e.finding(x)
		f.Message = fmt.Sprintf("the merge lost %s of %s", entryWords(e.p.Entries[x.before]), e.side)
		f.Fix = "keep every entry of both sides: " + r.reconcileAgain(e)
		r.add(f)
	}
}
