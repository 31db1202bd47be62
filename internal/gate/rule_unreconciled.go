package gate

import "fmt"

var ruleUnreconciled = Rule{
	ID: "divergence/unreconciled", Severity: SeverityError, Stage: StageHistory,
	Summary: "two sides' entries were interleaved and no reconcile entry says so",
	Why: `After such a merge the log looks as if one writer had written it, though two worked at once and
neither knew of the other. No entry is lost, but one side's entries now stand before the other's,
and nobody has said that their work fits together. Union merges do this silently, and so does
pasting the two blocks one after the other. Check that both sides' work holds, then append an entry
for meta/reconcile-merge, behind all others, whose evidence names both sides: "small-hook reconcile",
typed in the merge, does it.`,
	Wrong: `
-- ours/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- theirs/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-2"
    evidence: "checkpoints are written"
-- merge/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-2"
    evidence: "checkpoints are written"
`,
	Right: `
-- ours/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- theirs/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-2"
    evidence: "checkpoints are written"
-- merge/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-2"
    evidence: "checkpoints are written"
  - timestamp: "2026-03-01T09:30:00.000000000Z"
    task_id: "meta/reconcile-merge"
    evidence: "merged main (1 entry) and checkpoints (1 entry)"
`,
	Edge: checkUnreconciled,
	Tips: checkUnreconciledTips,
}

func checkUnreconciled(e *edgeView, r *reporter) {
	if !e.merge || e.reconciled() || len(e.inserted) == 0 {
		return
	}
	f := e.finding(edit{kind: editInserted, before: -1, after: e.inserted[0]})
	f.edits = insertionKeys(e, e.inserted)
	f.Message = fmt.Sprintf("the merge puts %s before entries of %s, and no %s entry makes that explicit: %s",
		count(len(e.inserted), "entry"), e.side, "meta/reconcile-merge", entryList(at(e.c, e.inserted)))
	f.Fix = "make the resolution explicit: " + r.reconcileAgain(e)
	r.add(f)
}

func checkUnreconciledTips(t *tipsView, r *reporter) {
	if t.outcome != tipsInterleaved || t.switches {
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
	r.add(f)
}
