package gate

import "fmt"

var ruleUnreconciled = Rule{
	ID: "divergence/unreconciled", Severity: SeverityError, Stage: StageHistory,
	Summary: "two sides' entries were interleaved and no reconcile entry says so",
	Edge:    checkUnreconciled,
	Tips:    checkUnreconciledTips,
}

func checkUnreconciled(e *edgeView, r *reporter) {
	if !e.merge || e.reconciled() || len(e.inserted) == 0 {
		return
	}
	f := e.finding(edit{kind: editInserted, before: -1, after: e.inserted[0]})
	f.edits = insertionKeys(e, e.inserted)
	f.Message = fmt.Sprintf("the merge puts %s before entries of %s, and no %s entry makes that explicit: %s",
		count(len(e.inserted), "entry"), e.side, "meta/reconcile-merge", entryList(at(e.c, e.inserted)))
	f.Fix = "make the resolution explicit: " + reconcileHint
	r.add(f)
}

func checkUnreconciledTips(t *tipsView, r *reporter) {
	if t.outcome != tipsInterleaved {
		return
	}
	f := t.finding()
	f.Message = fmt.Sprintf("%s of one branch stand before entries of the other, and no %s entry makes that explicit: %s",
		count(len(t.inserted), "entry"), "meta/reconcile-merge", entryList(t.inserted))
	f.Fix = "make the resolution explicit: " + reconcileHint
	for _, e := range t.inserted {
		f.edits = append(f.edits, editKey{path: t.path, to: e.Digest.String()})
	}
	r.add(f)
}
