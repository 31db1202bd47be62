package gate

import (
	"fmt"
	"slices"
	"strings"
)

var ruleLaneEvidence = Rule{
	ID: "lane/evidence", Severity: SeverityError, Stage: StageHistory,
	Summary: "the claimed lane demands evidence that the change does not bring",
	Why: `A deep change is thought through before the work and tried out after it, and the log shows both: an
entry for meta/analysis before the work is done, and one for meta/qa after it, each with evidence and
with the status completed or none. Which entries a lane demands stands in the configuration, under lanes.

What the change adds to all its logs is one sequence, ordered by time; each log keeps its own order, and
an entry is not before another whose commit comes before its own. The analysis has to stand before the
last entry of each task that the change worked on. So one that comes late can be made good, though
entries are never moved: go over each task again in the light of it, and append an entry for each. Work
that is recorded after the last qa has not been tried, nor has what a commit does to files that no commit
with that qa follows. Where the change began in another lane, what
came before the switch need not be analysed again, and is tried with the rest; an entry for
meta/lane-switch without a switch changes nothing.

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

// The bounds of how many tasks a message names, and how many what is to be done
// about them.
const maxTasksTold, maxTasksToDo = 5, 50

// checkLaneEvidence wants what the lane demands before and after the work, in the
// one sequence of all that the change adds to logs.
func checkLaneEvidence(v *laneView, r *reporter) {
	rigour := v.state.rigour
	if v.report == nil || !v.state.ends || len(rigour.Before)+len(rigour.After) == 0 {
		return
	}
	tasks := v.tasks()
	thought := -1 // the place of the last evidence that is to come before the work
	for _, pattern := range rigour.Before {
		done, undone := v.evidence(pattern)
		if len(done) == 0 {
			r.add(v.missing(pattern, "before the work", undone, tasks))
			continue
		}
		thought = max(thought, done[0])
		early := slices.DeleteFunc(slices.Clone(tasks), func(t laneTask) bool {
			return slices.ContainsFunc(done, func(at int) bool { return v.precedes(at, t.last) })
		})
		if len(early) > 0 {
			r.add(v.late(pattern, done[0], early))
		}
	}
	for _, pattern := range rigour.After {
		done, undone := v.evidence(pattern)
		if len(done) == 0 || undone > done[len(done)-1] {
			r.add(v.missing(pattern, "after the work", undone, tasks))
			continue
		}
		at, last := done[len(done)-1], -1 // the evidence, and what it does not come after
		if at < thought {
			last = thought
		}
		for _, t := range v.allTasks() {
			if !v.precedes(t.last, at) {
				last = max(last, t.last)
			}
		}
		switch {
		case last >= 0:
			r.add(v.early(pattern, at, last))
		case len(v.untried[pattern]) > 0:
			r.add(v.notTried(pattern, at))
		}
	}
}

// missing is the finding of evidence that nothing in the change gives. undone is
// the place of an entry for it that does not count, -1 for none.
func (v *laneView) missing(pattern, when string, undone int, tasks []laneTask) Finding {
	f, log := Finding{Path: v.log()}, v.log()
	before := when == "before the work"
	if len(tasks) > 0 {
		at := tasks[0].last
		if !before {
			at = slices.MaxFunc(tasks, func(a, b laneTask) int { return a.last - b.last }).last
		}
		f, log = v.at(at), v.entries[at].path
	}
	f.Message, f.Fix = "the change brings none", fmt.Sprintf("append an entry for %s to %s whose evidence says what was found", pattern, log)
	if undone >= 0 {
		e := v.entries[undone]
		f = v.at(undone)
		f.Message, f.Fix = v.undone(undone), fmt.Sprintf("append an entry for %s to %s whose evidence says what was found", pattern, e.path)
		if e.Evidenced && e.Told {
			f.Fix = fmt.Sprintf(`once it is done, append an entry for %s to %s with the status "completed", whose evidence says what was found`, pattern, e.path)
		}
	}
	if before && len(tasks) > 0 {
		f.Fix += "; then " + v.again(tasks)
	}
	return v.demand(f, pattern, when)
}

// late is the finding of evidence that stands after work that it was to come
// before: at is its place, and tasks are those that were not worked on since.
func (v *laneView) late(pattern string, at int, tasks []laneTask) Finding {
	f := v.at(tasks[0].last)
	how := "stands"
	if at < tasks[0].last {
		how = "was committed" // its time says otherwise
	}
	f.Message = fmt.Sprintf("%s %s after the last entry for %s", v.words(v.entries[at]), how, v.taskList(tasks, maxTasksTold))
	f.Fix = "entries are not moved: " + v.again(tasks)
	return v.demand(f, pattern, "before the work")
}

// early is the finding of evidence that stands before work that it was to come
// after: at is its place, and last that of the work.
func (v *laneView) early(pattern string, at, last int) Finding {
	f := v.at(last)
	how := "does not stand"
	if at > last {
		how = "was not committed" // its time says otherwise
	}
	f.Message = fmt.Sprintf("%s %s after %s", v.words(v.entries[at]), how, v.words(v.entries[last]))
	f.Fix = fmt.Sprintf("try what has been done since, and append an entry for %s to %s whose evidence says what was found", pattern, v.entries[last].path)
	return v.demand(f, pattern, "after the work")
}

// notTried is the finding of commits that change files after the evidence which
// was to come after them; at is its place.
func (v *laneView) notTried(pattern string, at int) Finding {
	f, commits := v.at(at), v.untried[pattern]
	f.Message = fmt.Sprintf("commit %s changes %s after the entry for %s", short(commits[0].commit), fileList(commits[0].files), v.entries[at].TaskID)
	if more := len(commits) - 1; more == 1 {
		f.Message += ", and so does 1 more commit"
	} else if more > 1 {
		f.Message += fmt.Sprintf(", and so do %d more commits", more)
	}
	f.Message += fmt.Sprintf("; the lane %s demands one after the work", v.state.claim.Lane)
	f.Fix = fmt.Sprintf("try what has been done since, and append an entry for %s to %s whose evidence says what was found", pattern, v.entries[at].path)
	f.subject = strings.Join(append([]string{string(v.state.claim.Lane), pattern}, commits[0].files...), "\x00")
	return f
}

// at begins a finding about an entry.
func (v *laneView) at(place int) Finding {
	e := v.entries[place]
	return Finding{Path: e.path, Line: e.Pos.Line, Column: e.Pos.Column, Entry: refOf(e.Entry)}
}

// demand ends a finding whose message says how a demand of the lane is not met.
func (v *laneView) demand(f Finding, pattern, when string) Finding {
	f.subject = string(v.state.claim.Lane) + " " + when + " " + pattern
	f.Message = fmt.Sprintf("the lane %s demands an entry with evidence for %q %s, and %s", v.state.claim.Lane, pattern, when, f.Message)
	return f
}

// again says how work is made to stand after what was found later.
func (v *laneView) again(tasks []laneTask) string {
	each := "each"
	if len(tasks) == 1 {
		each = "it"
	}
	return fmt.Sprintf("go over %s again in the light of it, and append an entry for %s", v.taskList(tasks, maxTasksToDo), each)
}
