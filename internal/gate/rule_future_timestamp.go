package gate

import (
	"fmt"
	"time"
)

var ruleFutureTimestamp = Rule{
	ID: "append-only/future-timestamp", Severity: SeverityError, Stage: StageHistory,
	Checks: []RuleCheck{On(checkFutureTimestamp)},
}

// clockTolerance is how far clocks of honest machines may differ.
const clockTolerance = 5 * time.Minute

func checkFutureTimestamp(e *LogEdge, r *Reporter) {
	for _, place := range e.fresh {
		entry := e.now.Entries[place]
		when, ok := parseInstant(entry.Timestamp)
		if !ok || !when.After(e.clock.Add(clockTolerance)) {
			continue
		}
		f := e.finding(edit{kind: editInserted, before: -1, after: place})
		f.edits = []editKey{{path: e.path + "\x00future", to: f.EditTo}}
		f.Message = fmt.Sprintf("%s is dated %s ahead of now; no later entry could be valid", entryWords(entry), when.Sub(e.clock).Round(time.Second))
		f.Fix = "correct the clock, and record the entry again before it is committed"
		r.Add(f)
	}
}
