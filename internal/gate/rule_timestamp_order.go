package gate

import (
	"fmt"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleTimestampOrder = Rule{
	ID: "lint/timestamp-order", Severity: SeverityError, Stage: StageLint,
	Checks: []RuleCheck{On(checkTimestampOrder)},
}

// checkTimestampOrder compares instants, whatever zones they are written in.
// An entry whose timestamp cannot be read is passed over.
func checkTimestampOrder(w *Workspace, r *Reporter) {
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
			r.Add(Finding{
				Path: w.path(small.Progress), Line: ts.Pos.Line, Column: ts.Pos.Column,
				subject: fmt.Sprintf("entries.%d.timestamp", i),
				Message: fmt.Sprintf("entry %d is dated %s, which is not later than entry %d", i+1, text, previousAt+1),
				Fix:     "record it again at the end of the log, with the time of recording",
			})
		}
		previous, previousAt = at, i
	}
}
