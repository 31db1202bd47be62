package workspace

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// TimestampFormat is lint/timestamp-format: an entry's timestamp is missing or not RFC 3339 with a fraction and a zone.
var TimestampFormat = rule.New("lint/timestamp-format", finding.SeverityError, finding.StageLint, rule.On(checkTimestampFormat))

// checkTimestampFormat leaves a timestamp that is no string to the schema.
func checkTimestampFormat(w *subject.Workspace, r *rule.Reporter) {
	entries, first := w.Entries()
	for i, e := range entries {
		if e.Kind != small.Map {
			continue
		}
		ts := e.Get("timestamp")
		text, ok := ts.Str()
		if _, valid := ledger.ParseTimestamp(text); ts != nil && (!ok || valid) {
			continue
		}
		at, message := e.Pos, fmt.Sprintf("entry %d has no timestamp", first+i+1)
		if ts != nil {
			at, message = ts.Pos, fmt.Sprintf("the timestamp %q of entry %d is not RFC 3339 with fractional seconds and a zone", text, first+i+1)
		}
		r.Add(finding.Finding{
			Path: w.Path(small.Progress), Line: at.Line, Column: at.Column, Subject: fmt.Sprintf("entries.%d.timestamp", first+i),
			Message: message, Fix: w.RecordAgain(first + i),
		})
	}
}
