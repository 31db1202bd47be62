package gate

import "fmt"

var ruleInserted = Rule{
	ID: "append-only/inserted", Severity: SeverityError, Stage: StageHistory,
	Summary: "a new entry stands before an older one",
	Why: `A new entry goes to the end. One that is put before older ones claims to have been known earlier than
it was, and whoever has read the log up to its end never sees it. It happens when an entry was
forgotten and is added at "its" place, and when two branches' entries are mixed without a merge that
says so. Append the entry with the time of recording and name the real time in its evidence. Where
two branches are joined, sort both sides' entries by time and append one for meta/reconcile-merge.`,
	Wrong: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "the export has a header line"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
`,
	Right: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
  - timestamp: "2026-03-01T09:30:00.000000000Z"
    task_id: "task-1"
    evidence: "the export has a header line (seen at 09:10, recorded late)"
`,
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
	Summary: "entries were inserted before older ones and a reconcile entry says so",
	Why: `A merge that two writers' entries went into, and that an entry for meta/reconcile-merge makes
explicit, becomes a commit with one parent when it is squashed. Such a commit cannot be told from
one that puts an entry in afterwards and says so, therefore it passes with a warning that lists what
was inserted. Read the list: each entry should be one that the other branch really wrote at that
time. To be rid of the warning, merge with a merge commit, or append late entries at the end.`,
	Wrong: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-2"
    evidence: "checkpoints are written"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
  - timestamp: "2026-03-01T09:30:00.000000000Z"
    task_id: "meta/reconcile-merge"
    evidence: "merged main (1 entry) and checkpoints (1 entry)"
`,
	Right: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
  - timestamp: "2026-03-01T09:30:00.000000000Z"
    task_id: "task-2"
    evidence: "checkpoints are written (since 09:10, recorded late)"
`,
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
