package workspace

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Evidence is lint/evidence: an entry has no evidence.
var Evidence = rule.New("lint/evidence", finding.SeverityError, finding.StageLint, rule.On(checkEvidence))

var evidenceFields = []string{"evidence", "verification", "command", "test", "link", "commit"}

func checkEvidence(w *subject.Workspace, r *rule.Reporter) {
	entries, first := w.Entries()
	for i, e := range entries {
		if e.Kind != small.Map || ledger.Evidenced(e) || schemaSpokeOfEvidence(e) {
			continue
		}
		at := fmt.Sprintf("entries.%d", first+i)
		r.Add(finding.Finding{
			Path: w.Path(small.Progress), Line: e.Pos.Line, Column: e.Pos.Column,
			Subject: at,
			Message: fmt.Sprintf("entry %d has no evidence", first+i+1),
			Fix:     w.Correct(small.Progress, at, "add evidence, verification, command, test, link or commit, so that the work can be checked"),
		})
	}
}

// schemaSpokeOfEvidence reports whether the schema already rejects a field that could be evidence.
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
