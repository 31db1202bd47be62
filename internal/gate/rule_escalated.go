package gate

import (
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/lane"
)

var ruleEscalated = Rule{
	ID: "lane/escalated-without-record", Severity: SeverityError, Stage: StageHistory,
	Summary: "the lane changed within the change, and nothing records why",
	Why: `A lane may turn out to be wrong: the work is riskier than it looked, or simpler. Whoever notices
switches, and that is how it should be. But the work so far was done with the rigour of the other lane,
and whoever reviews it has to know. So each switch is recorded: with an entry for meta/lane-switch in the
log that says why, anywhere in the same change, or in the job's own history of switches. A commit without
a Lane trailer goes on in the lane of the one before.

The record is asked for wherever trailers are seen: in a range, for a pull request, and in every push,
also of a branch that work goes on in. The switch is there, so its record can be there too.`,
	Wrong: `
-- theirs/COMMIT --
Author: Ada <ada@example.com>

Read the export

Lane: fast
-- theirs/notes.txt --
the export has a header line
-- merge/COMMIT --
Author: Ada <ada@example.com>

Merge the reading of the export

Lane: standard
-- merge/more.txt --
and a footer
`,
	Right: `
-- theirs/COMMIT --
Author: Ada <ada@example.com>

Read the export

Lane: fast
-- theirs/notes.txt --
the export has a header line
-- merge/COMMIT --
Author: Ada <ada@example.com>

Merge the reading of the export

Lane: standard
-- merge/more.txt --
and a footer
-- merge/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "meta/lane-switch"
    evidence: "fast to standard: the export has more parts than one"
`,
	Lane: checkEscalated,
}

// checkEscalated wants one record for each switch: a job's that led the same way,
// or an entry.
func checkEscalated(v *laneView, r *reporter) {
	jobs := slices.Clone(v.state.jobs.switches)
	entries, undone := v.evidence(lane.SwitchTask)
	for i, s := range v.state.switches {
		if s.squashed {
			continue // of a squash, nobody can tell what its commits were like
		}
		if at := slices.IndexFunc(jobs, func(own jobSwitch) bool { return own.records(s) }); at >= 0 {
			jobs = slices.Delete(jobs, at, at+1)
			continue
		}
		if len(entries) > 0 {
			entries = entries[1:]
			continue
		}
		lacks := "the change has no entry that records the switch"
		if undone >= 0 {
			lacks = v.undone(undone) + ", so nothing records the switch"
		}
		r.add(Finding{
			Path: v.log(), subject: fmt.Sprintf("%s %s %d", s.from, s.to, i),
			Message: fmt.Sprintf("commit %s claims the lane %s, and commit %s before it %s; %s",
				short(s.commit), s.to, short(s.parent), s.from, lacks),
			Fix: fmt.Sprintf("append an entry for %s to %s whose evidence says why", lane.SwitchTask, v.log()),
		})
		last := &r.out[len(r.out)-1]
		last.Commit, last.Parent = s.commit, s.parent
	}
}
