package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/ledger"
)

var ruleInserted = Rule{
	ID: "append-only/inserted", Severity: SeverityError, Stage: StageHistory,
	Edit:   ledger.EntryInserted,
	Checks: []RuleCheck{On(checkInserted)},
}

// checkInserted reports, in a commit with one parent, every new entry before
// an older one unless a reconcile entry makes it explicit; in a merge, every
// entry that no parent has and that stands before an entry of a parent,
// explicit or not.
func checkInserted(e *LogEdge, r *Reporter) {
	report := func(place int) {
		f := e.insertion(place)
		f.Message = entryWords(e.now.Entries[place]) + " was inserted before older entries"
		f.Fix = e.remedies.MoveToEnd()
		if e.merge {
			f.Message = entryWords(e.now.Entries[place]) + " is in no parent of the merge and stands before entries of a parent"
		}
		r.Add(f)
	}
	if e.merge {
		for _, place := range e.intruders {
			report(place)
		}
		return
	}
	if e.reconciled() {
		return
	}
	for _, place := range e.inserted {
		report(place)
	}
	for _, x := range e.ofKind(editInserted) {
		report(x.after)
	}
}

var ruleReconciledInsertion = Rule{
	ID: "append-only/reconciled-insertion", Severity: SeverityWarning, Stage: StageHistory,
	Edit:   ledger.InsertionExplained,
	Checks: []RuleCheck{On(checkReconciledInsertion)},
}

func checkReconciledInsertion(e *LogEdge, r *Reporter) {
	if e.merge || !e.reconciled() {
		return
	}
	places := e.inserted
	for _, x := range e.ofKind(editInserted) {
		places = append(places, x.after)
	}
	if len(places) == 0 {
		return
	}
	f := e.finding(edit{kind: editInserted, before: -1, after: places[0]})
	f.edits = insertionKeys(e, places)
	f.Message = fmt.Sprintf("%s inserted before older ones, made explicit by %s: %s",
		wasWere(count(len(places), "entry"), len(places)), entryWords(e.now.Entries[e.marker]), entryList(at(e.now, places)))
	f.Fix = "nothing to do if this is the result of a reconciled merge that was squashed"
	if severity, lane := r.Severity(); severity == SeverityError {
		f.Fix = "make the commit anew so that nothing stands before older entries: merge the other branch instead of squashing it, or append the entries with the time of recording"
		if lane != "" {
			f.Message += fmt.Sprintf("; lane %q forbids it", lane)
		}
	}
	r.Add(f)
}

func insertionKeys(e *LogEdge, places []int) []editKey {
	keys := make([]editKey, len(places))
	for i, place := range places {
		keys[i] = editKey{path: e.path, to: e.now.Entries[place].Digest.String()}
	}
	return keys
}

func wasWere(what string, n int) string {
	if n == 1 {
		return what + " was"
	}
	return what + " were"
}
