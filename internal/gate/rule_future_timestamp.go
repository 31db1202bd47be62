package gate

import (
	"fmt"
	"time"
)

var ruleFutureTimestamp = Rule{
	ID: "append-only/future-timestamp", Severity: SeverityError, Stage: StageHistory,
	Summary: "a new entry is dated ahead of now",
	Why: `Every entry must be later than the one before it. One that is dated tomorrow therefore shuts the log
until tomorrow: nobody can append honestly before then. The cause is a wrong clock, local time
marked as UTC, a mistyped year, or an agent that invented the time. Up to five minutes are allowed,
since clocks differ. Correct the clock and record the entry again before it is committed.`,
	Wrong: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2206-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
`,
	Right: `
-- 1/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
`,
	Edge: checkFutureTimestamp,
}

// clockTolerance is how far clocks of honest machines may differ.
const clockTolerance = 5 * time.Minute

func checkFutureTimestamp(e *edgeView, r *reporter) {
	for _, place := range e.fresh {
		entry := e.c.Entries[place]
		when, ok := parseInstant(entry.Timestamp)
		if !ok || !when.After(e.now.Add(clockTolerance)) {
			continue
		}
		f := e.finding(edit{kind: editInserted, before: -1, after: place})
		f.edits = []editKey{{path: e.path + "\x00future", to: f.EditTo}}
		f.Message = fmt.Sprintf("%s is dated %s ahead of now; nothing honest could ever follow it", entryWords(entry), when.Sub(e.now).Round(time.Second))
		f.Fix = "correct the clock, and record the entry again before it is committed"
		r.add(f)
	}
}
