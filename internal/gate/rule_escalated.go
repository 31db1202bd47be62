package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/lane"
)

var ruleEscalated = Rule{
	ID: "lane/escalated-without-record", Severity: SeverityError, Stage: StageHistory,
	Summary: "the change goes down to a lane with less rigour, and nothing records why",
	Why: `A lane may turn out to be wrong: the work is riskier than it looked, or simpler. Whoever notices
switches, and that is how it should be. To go up, it is enough to claim the stricter lane in a later
commit: the claim is the record. To go down takes rigour away from work that somebody thought needed it,
so whoever reviews it has to know why: an entry for meta/lane-switch with evidence, anywhere in the same
change, or a new switch in the history of a job's record. A commit that claims nothing goes on in the
lane of the one before.

The record is asked for wherever commits are seen: in a range, for a pull request, and in every push,
also of a branch that work goes on in. The switch is there, so its record can be there too.`,
	Wrong: `
-- theirs/COMMIT --
Author: Ada <ada@example.com>

Read the export

Lane: standard
-- theirs/notes.txt --
the export has a header line
-- merge/COMMIT --
Author: Ada <ada@example.com>

Merge the reading of the export

Lane: fast
-- merge/more.txt --
and a footer
`,
	Right: `
-- theirs/COMMIT --
Author: Ada <ada@example.com>

Read the export

Lane: standard
-- theirs/notes.txt --
the export has a header line
-- merge/COMMIT --
Author: Ada <ada@example.com>

Merge the reading of the export

Lane: fast
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
    evidence: "standard to fast: the export is one line"
`,
	Lane: func(v *laneView, r *reporter) {
		for _, s := range v.state.switches {
			if v.state.recorded || !s.to.Less(s.from) {
				continue
			}
			r.add(Finding{
				Path: v.log, subject: string(s.from) + " " + string(s.to),
				Message: fmt.Sprintf("commit %s goes down to lane %q from lane %q of commit %s, and this change adds no entry for %s with evidence",
					short(s.commit), s.to, s.from, short(s.parent), lane.SwitchTask),
				Fix: v.goOn(s.to),
			})
			last := &r.out[len(r.out)-1]
			last.Commit, last.Parent = s.commit, s.parent
		}
	},
}
