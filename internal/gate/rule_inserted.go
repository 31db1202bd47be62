package gate

import "fmt"

var ruleInserted = Rule{
	ID: "append-only/inserted", Severity: SeverityError, Stage: StageHistory,
	Edge: checkInserted,
}

// checkInserted reports, in a commit with one parent, every new entry before
// an older one unless a reconcile entry makes it explicit; in a merge, every
// entry that no parent has and that stands before an entry of a parent,
// explicit or not.
func checkInserted(e *edgeView, r *reporter) {
	report := func(place int) {
		f := e.insertion(place)
		f.Message = entryWords(e.c.Entries[place]) + " was inserted before older entries"
		f.Fix = "move it to the end of the log, with the time of recording"
		if e.merge {
			f.Message = entryWords(e.c.Entries[place]) + " is in no parent of the merge and stands before entries of a parent"
		}
		r.add(f)
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
	Edge: checkReconciledInsertion,
}

func checkReconciledInsertion(e *edgeView, r *reporter) {
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
		wasWere(count(len(places), "entry"), len(places)), entryWords(e.c.Entries[e.marker]), entryList(at(e.c, places)))
	f.Fix = "nothing to do if this is the result of a reconciled merge that was squashed"
	r.add(f)
}

func insertionKeys(e *edgeView, places []int) []editKey {
	keys := make([]editKey, len(places))
	for i, place := range places {
		keys[i] = editKey{path: e.path, to: e.c.Entries[place].Digest.String()}
	}
	return keys
}

func wasWere(what string, n int) string {
	if n == 1 {
		return what + " was"
	}
	return what + " were"
}
