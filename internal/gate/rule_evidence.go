package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleEvidence = Rule{
	ID: "lint/evidence", Severity: SeverityError, Stage: StageLint,
	Checks: []RuleCheck{On(checkEvidence)},
}

var evidenceFields = []string{"evidence", "verification", "command", "test", "link", "commit"}

func checkEvidence(w *Workspace, r *Reporter) {
	entries, first := w.entries()
	for i, e := range entries {
		if e.Kind != small.Map || small.Evidenced(e) || schemaSpokeOfEvidence(e) {
			continue
		}
		r.Add(Finding{
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
