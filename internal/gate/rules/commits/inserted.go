package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/wording"
)

// Inserted is append-only/inserted: a new entry stands before an older one.
var Inserted = rule.Rule{
	ID: "append-only/inserted", Severity: finding.SeverityError, Stage: finding.StageHistory,
	Edit:   ledger.EntryInserted,
	Checks: []rule.Check{rule.On(checkInserted)},
}

// checkInserted reports, in a commit with one parent, new entries before older ones unless a reconcile entry makes
// them explicit; in a merge, explicit or not, new entries that stand before a parent's.
func checkInserted(e *subject.LogChange, r *rule.Reporter) {
	report := func(index int) {
		f := e.Insertion(index)
		f.Message = ledger.Describe(e.New.Entries[index]) + " was inserted before older entries"
		f.Fix = e.Undo()
		if e.Merge {
			f.Message = ledger.Describe(e.New.Entries[index]) + " is in no parent of the merge and stands before entries of a parent"
		}
		r.Add(f)
	}
	if e.Merge {
		for _, index := range e.Misplaced {
			report(index)
		}
		return
	}
	if e.Reconciled() {
		return
	}
	for _, index := range e.Inserted {
		report(index)
	}
	for _, x := range e.OfKind(ledger.EditInserted) {
		report(x.NewIndex)
	}
}

// ReconciledInsertion is append-only/reconciled-insertion.
var ReconciledInsertion = rule.Rule{
	ID: "append-only/reconciled-insertion", Severity: finding.SeverityWarning, Stage: finding.StageHistory,
	Edit:   ledger.InsertionExplained,
	Checks: []rule.Check{rule.On(checkReconciledInsertion)},
}

func checkReconciledInsertion(e *subject.LogChange, r *rule.Reporter) {
	if e.Merge || !e.Reconciled() {
		return
	}
	indexes := e.Inserted
	for _, x := range e.OfKind(ledger.EditInserted) {
		indexes = append(indexes, x.NewIndex)
	}
	if len(indexes) == 0 {
		return
	}
	f := e.Finding(ledger.Edit{Kind: ledger.EditInserted, OldIndex: -1, NewIndex: indexes[0]})
	f.Edits = insertionKeys(e, indexes)
	f.Message = fmt.Sprintf("%s inserted before older ones, made explicit by %s: %s",
		wasWere(wording.Count(len(indexes), "entry"), len(indexes)), ledger.Describe(e.New.Entries[e.ReconcileEntry]), ledger.DescribeAll(ledger.Pick(e.New, indexes)))
	f.Fix = "nothing to do if this is the result of a reconciled merge that was squashed"
	if severity, lane := r.Severity(); severity == finding.SeverityError {
		f.Fix = "redo the commit so that no new entry stands before older ones: merge the other branch instead of squashing it, or append the entries with the time of recording"
		if lane != "" {
			f.Message += fmt.Sprintf("; lane %q forbids it", lane)
		}
	}
	r.Add(f)
}

func insertionKeys(e *subject.LogChange, indexes []int) []finding.EditKey {
	keys := make([]finding.EditKey, len(indexes))
	for i, index := range indexes {
		keys[i] = finding.EditKey{Path: e.Path, To: e.New.Entries[index].Digest.String()}
	}
	return keys
}

func wasWere(what string, n int) string {
	if n == 1 {
		return what + " was"
	}
	return what + " were"
}
