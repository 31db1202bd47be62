package gate

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleDoubleClaim = Rule{
	ID: "divergence/double-claim", Severity: SeverityWarning, Stage: StageHistory,
	Summary: "two branches both recorded work on the same task",
	Why: `Partitioning tasks among agents is one of the safe ways to work in parallel. When both branches
record work on the same task, the partition did not hold, and the work was probably done twice. It is
a warning, since both entries can be kept; look at what each side did before you merge.`,
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
    task_id: "task-1"
    evidence: "importer reads the export in one pass"
`,
	Right: `
-- ours/README --
Nobody works on task-1 here.
-- theirs/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads the export in one pass"
`,
	Fork: checkDoubleClaim,
}

func checkDoubleClaim(v *forkView, r *reporter) {
	claimed := map[string]small.Entry{}
	for _, e := range v.targetOnly {
		if _, seen := claimed[e.TaskID]; !seen && e.TaskID != "" && !strings.HasPrefix(e.TaskID, small.MetaPrefix) {
			claimed[e.TaskID] = e
		}
	}
	for _, e := range v.headOnly {
		other, both := claimed[e.TaskID]
		if !both {
			continue
		}
		delete(claimed, e.TaskID)
		r.add(Finding{
			Path: small.Progress.Path(v.dir), Line: e.Pos.Line, Column: e.Pos.Column, subject: "fork " + e.TaskID,
			Entry: refOf(other), EntryAfter: refOf(e),
			Message: fmt.Sprintf("task %q has work on both branches: %s on %s, %s on %s",
				e.TaskID, entryWords(other), v.targetName, entryWords(e), v.headName),
			Fix: "look at what each side did before you merge; give each agent tasks of its own",
		})
	}
}
