package gate

var ruleDeleted = Rule{
	ID: "append-only/deleted", Severity: SeverityError, Stage: StageHistory,
	Summary: "an earlier entry was deleted",
	Why: `An entry that is gone was work that somebody did, or a failure that somebody should learn from. Logs
lose entries when git revert or git reset takes the log back together with the code, when a conflict
is resolved by taking one side, and when a log is "cleaned up" for a new run. Take the code back and
keep the log: restore the file, then append an entry that says what was undone. A new run needs no
empty log, since entries tell their run by replayId.`,
	Wrong: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries: []
`,
	Right: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
  - timestamp: "2026-03-01T09:30:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reverted: it reads the header as a row"
`,
	Edge: checkDeleted,
}

// checkDeleted leaves what a merge loses to divergence/lost-entry.
func checkDeleted(e *edgeView, r *reporter) {
	if e.merge {
		return
	}
	for _, x := range e.ofKind(editDeleted) {
		f := e.finding(x)
		f.Message = entryWords(e.p.Entries[x.before]) + " was deleted"
		f.Fix = r.bringBack(e)
		r.add(f)
	}
}
