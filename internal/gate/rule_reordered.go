package gate

import "fmt"

var ruleReordered = Rule{
	ID: "append-only/reordered", Severity: SeverityError, Stage: StageHistory,
	Summary: "earlier entries were put in another order",
	Why: `The order of the entries is part of what the log says: what was known when, and which entry answers
which. Entries change places when a tool sorts them, when a list is edited by hand, and when a
conflict is resolved by taking the blocks the other way round. No entry is lost, but every branch
that has the old order conflicts with the new one. Restore the order as it was committed. If the
times were out of order from the beginning, accept the log with a baseline instead of sorting it.`,
	Wrong: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-2"
    evidence: "the format of checkpoints is chosen"
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-2"
    evidence: "the format of checkpoints is chosen"
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
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-2"
    evidence: "the format of checkpoints is chosen"
-- 2/.small-gate.yml --
version: 1
baseline:
  - path: .small/progress.small.yml
    entries: 2
    head: sha256:c4d845be38119721c5ecd1633afd96d771d27c8e8363550f2d388201a308b029
    reason: "the second entry was recorded late, with the time of the work"
`,
	Edge: reportEdits(editReordered, func(e *edgeView, x edit) string {
		return fmt.Sprintf("%s was moved; it is entry %d now", entryWords(e.p.Entries[x.before]), x.after+1)
	}),
}
