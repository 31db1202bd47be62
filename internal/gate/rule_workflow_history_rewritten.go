package gate

import (
	"fmt"
	"slices"
)

var ruleWorkflowRewritten = Rule{
	ID: ruleRewrittenID, Severity: SeverityError, Stage: StageHistory,
	Edge: checkRewritten, Switches: true,
}

// ruleRewrittenID is named by what knows waivers, which the rule's own value
// cannot be.
const ruleRewrittenID = "workflow/history-rewritten"

func checkRewritten(e *edgeView, r *reporter) {
	if e.c == nil {
		if n := e.p.Len(); n > 0 {
			head := e.p.Head().String()
			r.add(Finding{
				Path: e.path, EditFrom: head, edits: []editKey{{path: e.path, from: head}},
				Message: fmt.Sprintf("the record with %s is gone", count(n, "workflow switch")), Fix: r.keepSwitches(e),
			})
		}
		return
	}
	for _, kind := range []editKind{editModified, editTimestampMigrated, editTaskReassigned, editDeleted, editReordered} {
		for _, x := range e.ofKind(kind) {
			f := e.finding(x)
			f.Message, f.Fix = rewrittenWords(e, x), r.keepSwitches(e)
			r.add(f)
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
		f.Message, f.Fix = entryWords(e.c.Entries[place])+" was inserted before older ones", r.keepSwitches(e)
		r.add(f)
	}
}

func rewrittenWords(e *edgeView, x edit) string {
	words := entryWords(e.p.Entries[x.before])
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
func (r *reporter) keepSwitches(e *edgeView) string {
	switch {
	case e.merge:
		return "give the merge up and rebase the one branch on the other instead (git merge --abort, or git reset --hard to before the merge; then git rebase): keep the switches that are there first as they are, and record the branch's own again after them, from the workflow that they led to"
	case e.c == nil:
		return r.bringBack(e)
	}
	return r.putBack(e)
}
