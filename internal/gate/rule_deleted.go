package gate

var ruleDeleted = Rule{
	ID: "append-only/deleted", Severity: SeverityError, Stage: StageHistory,
	Edge: checkDeleted,
}

// checkDeleted leaves what a merge loses to divergence/lost-entry.
func checkDeleted(e *edgeView, r *reporter) {
	if e.merge {
		return
	}
	for _, x := range e.ofKind(editDeleted) {
		f := e.finding(x)
		f.Message = entryWords(e.p.Entries[x.before]) + " was deleted"
		f.Fix = r.bringBack(e)
		r.add(f)
	}
}
