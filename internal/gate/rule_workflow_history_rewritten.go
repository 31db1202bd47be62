package gate

import (
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/ledger"
)

var ruleWorkflowRewritten = Rule{
	ID: "workflow/history-rewritten", Severity: SeverityError, Stage: StageHistory,
	Edit:   ledger.EntryChanged | ledger.EntryLost | ledger.LogEnded | ledger.OfRecord,
	Checks: []RuleCheck{On(func(e SwitchEdge, r *Reporter) { checkRewritten(e.LogEdge, r) })},
}

func checkRewritten(e *LogEdge, r *Reporter) {
	if e.now == nil {
		if n := e.old.Len(); n > 0 {
			head := e.old.Head().String()
			r.Add(Finding{
				Path: e.path, EditFrom: head, edits: []editKey{{path: e.path, from: head}},
				Message: fmt.Sprintf("the record with %s is gone", count(n, "workflow switch")), Fix: keepSwitches(e),
			})
		}
		return
	}
	for _, kind := range []editKind{editModified, editTimestampMigrated, editTaskReassigned, editDeleted, editReordered} {
		for _, x := range e.ofKind(kind) {
			f := e.finding(x)
			f.Message, f.Fix = rewrittenWords(e, x), keepSwitches(e)
			r.Add(f)
		}
	}
	inserted := e.intruders
	if !e.merge {
		inserted = slices.Clone(e.inserted)
		for _, x := range e.ofKind(editInserted) {
			inserted = append(inserted, x.after)
		}
	}
	for _, place := range inserted {
		f := e.insertion(place)
		f.Message, f.Fix = entryWords(e.now.Entries[place])+" was inserted before older ones", keepSwitches(e)
		r.Add(f)
	}
}

func rewrittenWords(e *LogEdge, x edit) string {
	words := entryWords(e.old.Entries[x.before])
	switch {
	case x.kind == editDeleted && e.merge:
		return "the merge lost " + words + " of " + e.side
	case x.kind == editDeleted:
		return words + " was deleted"
	case x.kind == editReordered:
		return fmt.Sprintf("%s was moved; it is switch %d now", words, x.after+1)
	}
	return modifiedWords(e, x)
}

// keepSwitches says how to bring a switch history back. In a merge of two branches
// that both switched a job, the chain of one of them is always broken.
func keepSwitches(e *LogEdge) string {
	switch {
	case e.merge:
		return "give the merge up and rebase the one branch on the other instead (git merge --abort, or git reset --hard to before the merge; then git rebase): keep the switches that are there first as they are, and record the branch's own again after them, from the workflow that they led to"
	case e.now == nil:
		return e.remedies.BringBack()
	}
	return e.remedies.PutBack()
}
