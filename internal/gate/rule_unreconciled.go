package gate

import "fmt"

var ruleUnreconciled = Rule{
	ID: "divergence/unreconciled", Severity: SeverityError, Stage: StageHistory,
	Checks: []RuleCheck{On(checkUnreconciled), On(checkUnreconciledTips)},
}

func checkUnreconciled(e *LogEdge, r *Reporter) {
	if !e.merge || e.reconciled() || len(e.inserted) == 0 {
		return
	}
	f := e.finding(edit{kind: editInserted, before: -1, after: e.inserted[0]})
	f.edits = insertionKeys(e, e.inserted)
	f.Message = fmt.Sprintf("the merge puts %s before entries of %s, and no %s entry makes that explicit: %s",
		count(len(e.inserted), "entry"), e.side, "meta/reconcile-merge", entryList(at(e.now, e.inserted)))
	f.Fix = "make the resolution explicit: " + e.remedies.Reconcile()
	r.Add(f)
}

func checkUnreconciledTips(t *LogTips, r *Reporter) {
	if t.outcome != mixed || t.switches {
		return
	}
	f := t.finding()
	whose, before := t.headName, t.targetName
	if t.insertedByTarget {
		whose, before = before, whose
	}
	f.Message = fmt.Sprintf("%s has %s that %s lacks before entries that both have, and no %s entry makes that explicit: %s",
		whose, count(len(t.inserted), "entry"), before, "meta/reconcile-merge", entryList(t.inserted))
	f.Fix = fmt.Sprintf("make the resolution explicit: %s, then %s", t.merge, reconcileHint)
	for _, e := range t.inserted {
		f.edits = append(f.edits, editKey{path: t.path, to: e.Digest.String()})
	}
	r.Add(f)
}
