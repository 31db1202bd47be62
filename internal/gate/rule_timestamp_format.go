package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleTimestampFormat = Rule{
	ID: "lint/timestamp-format", Severity: SeverityError, Stage: StageLint,
	Checks: []RuleCheck{On(checkTimestampFormat)},
}

// checkTimestampFormat leaves a timestamp that is no string to the schema.
func checkTimestampFormat(w *Workspace, r *Reporter) {
	entries, first := w.entries()
	for i, e := range entries {
		if e.Kind != small.Map {
			continue
		}
		f := Finding{
			Path: w.path(small.Progress), subject: fmt.Sprintf("entries.%d.timestamp", first+i),
			Fix: `write it as "2026-03-01T09:00:00.000000000Z"`,
		}
		ts := e.Get("timestamp")
		if ts == nil {
			f.Line, f.Column = e.Pos.Line, e.Pos.Column
			f.Message = fmt.Sprintf("entry %d has no timestamp", first+i+1)
			r.Add(f)
			continue
		}
		text, ok := ts.Str()
		if _, valid := parseTimestamp(text); !ok || valid {
			continue
		}
		f.Line, f.Column = ts.Pos.Line, ts.Pos.Column
		f.Message = fmt.Sprintf("the timestamp %q of entry %d is not RFC 3339 with fractional seconds and a zone", text, first+i+1)
		r.Add(f)
	}
}
