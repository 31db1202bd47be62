package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleInterleavedRuns = Rule{
	ID: "divergence/interleaved-runs", Severity: SeverityWarning, Stage: StageHistory,
	Checks: []RuleCheck{On(checkInterleavedRuns)},
}

// checkInterleavedRuns reports each return of a run that had ended; entries
// that belong to no run are passed over.
func checkInterleavedRuns(w *Workspace, r *Reporter) {
	art := w.artifacts[small.Progress]
	if art == nil || art.log == nil {
		return
	}
	lastOf := map[string]int{}
	current := ""
	for i, e := range art.log.Entries {
		if e.ReplayID == "" {
			continue
		}
		last, seen := lastOf[e.ReplayID]
		if seen && e.ReplayID != current && i >= w.baseline {
			r.Add(Finding{
				Path: art.path, Line: e.Pos.Line, Column: e.Pos.Column, Entry: refOf(e), EditTo: e.Digest.String(),
				Message: fmt.Sprintf("entry %d goes on with run %.12s…, which entry %d had left for run %.12s…", i+1, e.ReplayID, last+1, current),
				Fix:     "let one agent finish its run before another begins, or give each its own branch",
			})
		}
		current, lastOf[e.ReplayID] = e.ReplayID, i
	}
}

// refOf is the reference to an entry for a finding.
func refOf(e small.Entry) *EntryRef {
	return &EntryRef{Index: e.Index, Line: e.Pos.Line, TaskID: e.TaskID, Timestamp: e.Timestamp, AgentID: e.AgentID, Digest: e.Digest, Switch: e.Switch}
}

func refsOf(entries []small.Entry) []EntryRef {
	out := make([]EntryRef, len(entries))
	for i, e := range entries {
		out[i] = *refOf(e)
	}
	return out
}
