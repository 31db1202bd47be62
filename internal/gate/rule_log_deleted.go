package gate

import "fmt"

var ruleLogDeleted = Rule{
	ID: "append-only/log-deleted", Severity: SeverityError, Stage: StageHistory,
	Summary: "a progress log disappeared",
	Why: `Without its log, a workspace has no memory: what was done, tried and refuted is gone for everybody
who comes later. A log disappears when .small/ is removed at the end of a project, added to
.gitignore with "git rm --cached", or deleted to get rid of a conflict. Bring it back, and append an
entry that says that the work has ended. Moving a workspace is fine, as long as one commit removes
the log here and adds it there with all its entries, and nowhere else: of two copies neither is the
log. What comes to the old path later goes on from the log that stood there.`,
	Wrong: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- 2/.small --
# deleted
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
    task_id: "meta/accept-import"
    evidence: "the importer is in use; this work has ended"
`,
	Edge: checkLogDeleted,
}

// checkLogDeleted reports a log that the child does not have. Whether it has
// moved is found out before.
func checkLogDeleted(e *edgeView, r *reporter) {
	if e.c != nil {
		return
	}
	head := e.p.Head().String()
	r.add(Finding{
		Path: e.path, EditFrom: head,
		edits:   []editKey{{path: e.path, from: head}},
		Message: fmt.Sprintf("the log with %s is gone", count(e.p.Len(), "entry")),
		Fix:     r.bringBack(e),
	})
}
