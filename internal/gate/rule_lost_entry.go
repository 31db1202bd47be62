package gate

import "fmt"

var ruleLostEntry = Rule{
	ID: "divergence/lost-entry", Severity: SeverityError, Stage: StageHistory,
	Summary: "a merge lost an entry of one side",
	Why: `A merge takes both sides' work, so both sides' entries are in its result. The usual way to lose some
is a conflict in the log that is resolved with "ours" or "theirs", by a button or by a tool that
takes the longer file; git itself sees nothing wrong with it. The finding names the side whose entry
is missing. Make the merge again and type "small-hook reconcile", which keeps every entry of both
sides in order of time and appends one for meta/reconcile-merge.`,
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
	Edge: checkLostEntry,
}

func checkLostEntry(e *edgeView, r *reporter) {
	if !e.merge {
		return
	}
	for _, x := range e.ofKind(editDeleted) {
		f := e.finding(x)
		f.Message = fmt.Sprintf("the merge lost %s of %s", entryWords(e.p.Entries[x.before]), e.side)
		f.Fix = "keep every entry of both sides: " + r.reconcileAgain(e)
		r.add(f)
	}
}
