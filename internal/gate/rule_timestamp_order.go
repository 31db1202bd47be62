package gate

import (
	"fmt"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleTimestampOrder = Rule{
	ID: "lint/timestamp-order", Severity: SeverityError, Stage: StageLint,
	Summary: "an entry is not later than the entry before it",
	Why: `A log tells what happened in which order, and every entry is later than the one before it. Where
that is not so, an entry was put in afterwards, two writers' entries were joined line by line (git's
union merge does that), a clock was wrong, or an entry was copied together with its time. Zones do
not matter, the instants are compared. Record the late entry at the end of the log with the time of
recording; after a merge, put both sides' entries in order of time.`,
	Wrong: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-2"
    evidence: "checkpoints are written"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "the export can be read"
`,
	Right: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "the export can be read"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-2"
    evidence: "checkpoints are written"
`,
	Snapshot: checkTimestampOrder,
}

// checkTimestampOrder compares instants, whatever zones they are written in.
// An entry whose timestamp cannot be read is passed over.
func checkTimestampOrder(w *Workspace, r *reporter) {
	var previous time.Time
	previousAt := -1
	items := w.list(small.Progress, "entries")
	for i, e := range items {
		ts := e.Get("timestamp")
		text, _ := ts.Str()
		at, ok := parseTimestamp(text)
		if !ok {
			continue
		}
		if previousAt >= 0 && !at.After(previous) && i >= w.baseline {
			r.add(Finding{
				Path: w.path(small.Progress), Line: ts.Pos.Line, Column: ts.Pos.Column,
				subject: fmt.Sprintf("entries.%d.timestamp", i),
				Message: fmt.Sprintf("entry %d is dated %s, which is not later than entry %d", i+1, text, previousAt+1),
				Fix:     "record it again at the end of the log, with the time of recording",
			})
		}
		previous, previousAt = at, i
	}
}
