package workspace

import (
	"fmt"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// TimestampOrder is lint/timestamp-order: an entry is not later than the entry before it.
var TimestampOrder = rule.New("lint/timestamp-order", finding.SeverityError, finding.StageLint, rule.On(checkTimestampOrder))

// checkTimestampOrder compares instants. Entries whose timestamp cannot be read are skipped.
func checkTimestampOrder(w *subject.Workspace, r *rule.Reporter) {
	var previous time.Time
	previousAt := -1
	items := w.List(small.Progress, "entries")
	for i, e := range items {
		ts := e.Get("timestamp")
		text, _ := ts.Str()
		at, ok := ledger.ParseTimestamp(text)
		if !ok {
			continue
		}
		if previousAt >= 0 && !at.After(previous) && i >= w.Baseline {
			r.Add(finding.Finding{
				Path: w.Path(small.Progress), Line: ts.Pos.Line, Column: ts.Pos.Column,
				Subject: fmt.Sprintf("entries.%d.timestamp", i),
				Message: fmt.Sprintf("entry %d is dated %s, which is not later than entry %d", i+1, text, previousAt+1),
				Fix:     w.RecordAgain(i),
			})
		}
		previous, previousAt = at, i
	}
}
