package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleInterleavedRuns = Rule{
	ID: "divergence/interleaved-runs", Severity: SeverityWarning, Stage: StageHistory,
	Summary: "a run goes on after another one began",
	Why: `A replayId names the run, and so the agent at work. When a run that had ended goes on after another
one began, two agents wrote to one log at once, each believing to be alone; or a handoff of the old
run was used to resume. Public logs hold such places, so this is a warning. Let one agent finish its
run before the next begins, or give each a branch of its own and merge explicitly. What is committed
stays as it is.`,
	Wrong: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    replayId: "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f"
    evidence: "the export can be read"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-2"
    replayId: "7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a"
    evidence: "checkpoints are written"
  - timestamp: "2026-03-01T09:30:00.000000000Z"
    task_id: "task-1"
    replayId: "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f"
    evidence: "importer reads 1204 rows"
`,
	Right: `
-- .small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    replayId: "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f"
    evidence: "the export can be read"
  - timestamp: "2026-03-01T09:30:00.000000000Z"
    task_id: "task-1"
    replayId: "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f"
    evidence: "importer reads 1204 rows"
  - timestamp: "2026-03-01T09:40:00.000000000Z"
    task_id: "task-2"
    replayId: "7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a"
    evidence: "checkpoints are written"
`,
	Snapshot: checkInterleavedRuns,
}

// checkInterleavedRuns reports each return of a run that had ended; entries
// that belong to no run are passed over.
func checkInterleavedRuns(w *Workspace, r *reporter) {
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
			r.add(Finding{
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
	return &EntryRef{Index: e.Index, Line: e.Pos.Line, TaskID: e.TaskID, Timestamp: e.Timestamp, AgentID: e.AgentID, Digest: e.Digest}
}

func refsOf(entries []small.Entry) []EntryRef {
	out := make([]EntryRef, len(entries))
	for i, e := range entries {
		out[i] = *refOf(e)
	}
	return out
}
