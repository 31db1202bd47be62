package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleTimestampFormat = Rule{
	ID: "lint/timestamp-format", Severity: SeverityError, Stage: StageLint,
	Summary: "an entry's timestamp is missing or not RFC 3339 with a fraction and a zone",
	Why: `An entry's time says where it belongs in the log, also after two branches meet. Whole seconds cannot
order two entries of the same second, and a time without a zone is another instant on every machine.
Such timestamps come from entries written by hand and from tools that print local time. Write RFC
3339 with a fraction and a zone; on Linux, date -u +%Y-%m-%dT%H:%M:%S.%NZ prints it. An entry that
is committed already is not rewritten for this: accept what is there with a baseline.`,
	Wrong: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01 09:10:00"
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
`,
	Snapshot: checkTimestampFormat,
}

// checkTimestampFormat leaves a timestamp that is no string to the schema.
func checkTimestampFormat(w *Workspace, r *reporter) {
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
			r.add(f)
			continue
		}
		text, ok := ts.Str()
		if _, valid := parseTimestamp(text); !ok || valid {
			continue
		}
		f.Line, f.Column = ts.Pos.Line, ts.Pos.Column
		f.Message = fmt.Sprintf("the timestamp %q of entry %d is not RFC 3339 with fractional seconds and a zone", text, first+i+1)
		r.add(f)
	}
}
