package gate

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

var ruleLaneEvidence = Rule{
	ID: "lane/evidence", Severity: SeverityError, Stage: StageHistory,
	Summary: "the claimed lane demands evidence that the change does not bring",
	Why: `A deep change is thought through before the work and tried out after it, and the log shows both: an
entry for meta/analysis before the entries of the work, and one for meta/qa after them, each with
evidence. Work that is recorded after the last qa has not been tried. Where the change began in another
lane, what was recorded before the switch is no work of this lane. Which entries a lane demands stands in
the configuration, under lanes.

It is asked of a change that is complete: in a range, for a pull request, and for a push to the default
branch. A commit, and a push of another branch, may still be on the way.`,
	Wrong: `
-- theirs/COMMIT --
Author: Ada <ada@example.com>

Store the currency

Lane: deep
-- theirs/db/migrations/0002_currency.sql --
alter table bills add column currency text;
-- theirs/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "meta/analysis"
    evidence: "old rows are in euro; a default does"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-1"
    evidence: "currency is stored"
`,
	Right: `
-- theirs/COMMIT --
Author: Ada <ada@example.com>

Store the currency

Lane: deep
-- theirs/db/migrations/0002_currency.sql --
alter table bills add column currency text;
-- theirs/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "meta/analysis"
    evidence: "old rows are in euro; a default does"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-1"
    evidence: "currency is stored"
  - timestamp: "2026-03-01T09:30:00.000000000Z"
    task_id: "meta/qa"
    evidence: "migrated a copy of the live data and back"
`,
	Lane: checkLaneEvidence,
}

// checkLaneEvidence looks for a log of the change that has all that is demanded,
// and else tells what the first one lacks.
func checkLaneEvidence(v *laneView, r *reporter) {
	if v.report == nil || !v.state.ends || len(v.state.rigour.Before)+len(v.state.rigour.After) == 0 {
		return
	}
	logs := v.logs
	if len(logs) == 0 {
		logs = []laneLog{{path: v.log()}}
	}
	var first []Finding
	for i, log := range logs {
		lacking := log.lacks(v)
		if len(lacking) == 0 {
			return
		}
		if i == 0 {
			first = lacking
		}
	}
	for _, f := range first {
		r.add(f)
	}
}

// lacks lists what a log lacks of the evidence that the lane demands.
func (l laneLog) lacks(v *laneView) []Finding {
	rigour := v.state.rigour
	firstWork, lastWork := l.work(rigour)
	var out []Finding
	earliest := -1
	for _, pattern := range rigour.Before {
		all := l.evidence(pattern)
		if len(all) == 0 || firstWork >= 0 && all[0] > firstWork {
			out = append(out, l.lacking(v, pattern, "before the work", firstWork, all))
			continue
		}
		earliest = max(earliest, all[0])
	}
	for _, pattern := range rigour.After {
		all := l.evidence(pattern)
		if len(all) == 0 || all[len(all)-1] < max(lastWork, earliest) {
			out = append(out, l.lacking(v, pattern, "after the work", max(lastWork, earliest), all))
		}
	}
	return out
}

// work finds the first and the last entry of the work that is done in this lane,
// -1 where there is none.
func (l laneLog) work(rigour policy.Rigour) (first, last int) {
	first, last = -1, -1
	for i, e := range l.entries {
		switch {
		case e.TaskID == lane.SwitchTask:
			first, last = -1, -1
		case strings.HasPrefix(e.TaskID, small.MetaPrefix), matchesTask(rigour.Before, e), matchesTask(rigour.After, e):
		case first < 0:
			first, last = i, i
		default:
			last = i
		}
	}
	return first, last
}

func matchesTask(patterns []string, e small.Entry) bool {
	for _, pattern := range patterns {
		if policy.MatchTask(pattern, e.TaskID) {
			return true
		}
	}
	return false
}

// evidence are the places of the entries that a pattern matches.
func (l laneLog) evidence(pattern string) []int {
	var out []int
	for i, e := range l.entries {
		if e.Evidenced && policy.MatchTask(pattern, e.TaskID) {
			out = append(out, i)
		}
	}
	return out
}

// lacking is the finding of one piece of evidence that is missing, or stands
// where it does not show what it is to show. at is the entry that it is late or
// early for.
func (l laneLog) lacking(v *laneView, pattern, when string, at int, there []int) Finding {
	f := Finding{Path: l.path, subject: string(v.state.claim.Lane) + " " + when + " " + pattern}
	f.Message = fmt.Sprintf("the lane %s demands an entry with evidence for %q %s, and the change brings none", v.state.claim.Lane, pattern, when)
	f.Fix = fmt.Sprintf("append an entry for %s to %s whose evidence says what was found", pattern, l.path)
	if at >= 0 {
		e := l.entries[at]
		f.Line, f.Column, f.Entry = e.Pos.Line, e.Pos.Column, refOf(e)
	}
	if len(there) > 0 && at >= 0 {
		f.Message = fmt.Sprintf("the lane %s demands an entry with evidence for %q %s, and %s does not stand %s %s",
			v.state.claim.Lane, pattern, when, entryWords(l.entries[there[0]]), strings.Fields(when)[0], entryWords(l.entries[at]))
	}
	return f
}
