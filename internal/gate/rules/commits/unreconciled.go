package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/wording"
)

// Unreconciled is divergence/unreconciled: two sides' entries were interleaved and no reconcile entry says so.
var Unreconciled = rule.New("divergence/unreconciled", finding.SeverityError, finding.StageHistory, rule.On(checkUnreconciled), rule.On(checkUnreconciledTips))

func checkUnreconciled(e *subject.LogChange, r *rule.Reporter) {
	if !e.Merge || e.Reconciled() || len(e.Inserted) == 0 {
		return
	}
	f := e.Finding(ledger.Edit{Kind: ledger.EditInserted, OldIndex: -1, NewIndex: e.Inserted[0]})
	f.Edits = insertionKeys(e, e.Inserted)
	f.Message = fmt.Sprintf("the merge puts %s before entries of %s, and no %s entry makes that explicit: %s",
		wording.Count(len(e.Inserted), "entry"), e.Side, "meta/reconcile-merge", ledger.DescribeAll(ledger.Pick(e.New, e.Inserted)))
	f.Fix = e.Undo()
	r.Add(f)
}

func checkUnreconciledTips(t *subject.LogTips, r *rule.Reporter) {
	if t.Outcome != ledger.Unreconciled || t.Switches {
		return
	}
	f := t.Finding()
	whose, before := t.HeadName, t.TargetName
	if t.InsertedByTarget {
		whose, before = before, whose
	}
	f.Message = fmt.Sprintf("%s has %s that %s lacks before entries that both have, and no %s entry makes that explicit: %s",
		whose, wording.Count(len(t.Inserted), "entry"), before, "meta/reconcile-merge", ledger.DescribeAll(t.Inserted))
	f.Fix = subject.MergeWith(t.Merge)
	for _, e := range t.Inserted {
		f.Edits = append(f.Edits, finding.EditKey{Path: t.Path, To: e.Digest.String()})
	}
	r.Add(f)
}
