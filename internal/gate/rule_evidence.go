package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleEvidence = Rule{
	ID: "lint/evidence", Severity: SeverityError, Stage: StageLint,
	Summary: "an entry has no evidence",
	Why: `If it is not evidenced, it did not happen. An entry that only says "done" asks to be believed, and
whoever goes on later, an agent most of all, cannot tell work from a claim. Each entry therefore
says how it can be checked: evidence, verification, command, test, link or commit. A note is welcome
but is not evidence. Add the field before you commit.`,
	Wrong: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    status: "completed"
    notes: "works now"
`,
	Right: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    status: "completed"
    command: "go test ./importer"
    notes: "works now"
`,
	Snapshot: checkEvidence,
}

var evidenceFields = []string{"evidence", "verification", "command", "test", "link", "commit"}

func checkEvidence(w *Workspace, r *reporter) {
	entries, first := w.entries()
	for i, e := range entries {
		if e.Kind != small.Map || small.Evidenced(e) || schemaSpokeOfEvidence(e) {
			continue
		}
		r.add(Finding{
			Path: w.path(small.Progress), Line: e.Pos.Line, Column: e.Pos.Column,
			subject: fmt.Sprintf("entries.%d", first+i),
			Message: fmt.Sprintf("entry %d has no evidence: what is not evidenced did not happen", first+i+1),
			Fix:     "add evidence, verification, command, test, link or commit that says how it can be checked",
		})
	}
}

// schemaSpokeOfEvidence reports whether a field that could be evidence has a
// form that the schema rejects already.
func schemaSpokeOfEvidence(entry *small.Value) bool {
	for _, key := range evidenceFields {
		v := entry.Get(key)
		if v == nil {
			continue
		}
		if text, ok := v.Str(); !ok || text == "" && key != "link" {
			return true
		}
	}
	return false
}
