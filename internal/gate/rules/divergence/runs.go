package divergence

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/small"
)

// checkInterleavedRuns reports each return of a run that had ended. Entries without a run are skipped.
func checkInterleavedRuns(w *read.Workspace, r *rule.Reporter) {
	lastOf := map[string]int{}
	current := ""
	for i, e := range w.Ledger().Entries {
		if e.ReplayID == "" {
			continue
		}
		last, seen := lastOf[e.ReplayID]
		if seen && e.ReplayID != current && i >= w.Baseline {
			r.Add(finding.Finding{
				Path: w.Path(small.Progress), Line: e.Pos.Line, Column: e.Pos.Column, Entry: finding.RefOf(e), EditTo: e.Digest.String(),
				Message: fmt.Sprintf("entry %d returns to run %.12s… (last used by entry %d) after run %.12s… began", i+1, e.ReplayID, last+1, current),
				Fix:     "let one agent finish its run before another begins, or give each its own branch",
			})
		}
		current, lastOf[e.ReplayID] = e.ReplayID, i
	}
}
