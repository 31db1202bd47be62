package commits

import (
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/wording"
)

// WorkflowRewritten is workflow/history-rewritten: an earlier switch in a job's history was changed, deleted or moved.
var WorkflowRewritten = rule.Rule{
	ID: "workflow/history-rewritten", Severity: finding.SeverityError, Stage: finding.StageHistory,
	Edit:   ledger.EntryChanged | ledger.EntryLost | ledger.LogEnded | ledger.OfRecord,
	Checks: []rule.Check{rule.On(func(e subject.SwitchChange, r *rule.Reporter) { checkRewritten(e.LogChange, r) })},
}

func checkRewritten(e *subject.LogChange, r *rule.Reporter) {
	if e.New == nil {
		if n := e.Old.Len(); n > 0 {
			head := e.Old.Head().String()
			r.Add(finding.Finding{
				Path: e.Path, EditFrom: head, Edits: []finding.EditKey{{Path: e.Path, From: head}},
				Message: fmt.Sprintf("the record with %s is gone", wording.Count(n, "workflow switch")), Fix: keepSwitches(e),
			})
		}
		return
	}
	for _, kind := range []ledger.EditKind{ledger.EditModified, ledger.EditTimestampMigrated, ledger.EditTaskReassigned, ledger.EditDeleted, ledger.EditReordered} {
		for _, x := range e.OfKind(kind) {
			f := e.Finding(x)
			f.Message, f.Fix = describeRewritten(e, x), keepSwitches(e)
			r.Add(f)
		}
	}
	inserted := e.Misplaced
	if !e.Merge {
		inserted = slices.Clone(e.Inserted)
		for _, x := range e.OfKind(ledger.EditInserted) {
			inserted = append(inserted, x.NewIndex)
		}
	}
	for _, index := range inserted {
		f := e.Insertion(index)
		f.Message, f.Fix = ledger.Describe(e.New.Entries[index])+" was inserted before older ones", keepSwitches(e)
		r.Add(f)
	}
}

func describeRewritten(e *subject.LogChange, x ledger.Edit) string {
	words := ledger.Describe(e.Old.Entries[x.OldIndex])
	switch {
	case x.Kind == ledger.EditDeleted && e.Merge:
		return "the merge lost " + words + " of " + e.Side
	case x.Kind == ledger.EditDeleted:
		return words + " was deleted"
	case x.Kind == ledger.EditReordered:
		return fmt.Sprintf("%s was moved; it is switch %d now", words, x.NewIndex+1)
	}
	return describeModified(e, x)
}

// keepSwitches says how to restore a switch history. A merge of two branches that both switched a job always
// breaks the chain of one of them.
func keepSwitches(e *subject.LogChange) string {
	if e.Merge {
		return "no merge joins the two: undo it as long as nobody else has it, and rebase the side that is not published on the other; keep the switches of that side as they are, " +
			"and record your own again after them, from the workflow that they led to"
	}
	return e.Undo()
}
