package gate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// laneTask is a task that a change worked on: the same id in two logs is two
// tasks.
type laneTask struct {
	id, path string
	// last is the place of the last entry for it.
	last int
}

// tasks lists the tasks that the change worked on in this lane, in the order in
// which it began them. A recorded switch begins anew, as often as the change was
// switched and no oftener: an entry alone excuses nothing.
func (v *laneView) tasks() []laneTask { return v.tasksAfter(v.switches()) }

// allTasks lists the tasks that the change worked on in whatever lane.
func (v *laneView) allTasks() []laneTask { return v.tasksAfter(0) }

// tasksAfter lists the tasks worked on after the records of so many switches.
func (v *laneView) tasksAfter(switches int) []laneTask {
	var out []laneTask
	for i, e := range v.entries {
		switch {
		case e.TaskID == lane.SwitchTask && e.done() && switches > 0:
			out, switches = nil, switches-1
		case strings.HasPrefix(e.TaskID, small.MetaPrefix), v.demands(e):
		default:
			known := slices.IndexFunc(out, func(t laneTask) bool { return t.id == e.TaskID && t.path == e.path })
			if known < 0 {
				out = append(out, laneTask{id: e.TaskID, path: e.path})
				known = len(out) - 1
			}
			out[known].last = i
		}
	}
	return out
}

// precedes reports whether one entry came before another: in the sequence, and,
// where different commits brought the two, in the history. A time in an entry says
// what its writer liked.
func (v *laneView) precedes(first, second int) bool {
	if first > second {
		return false
	}
	from, to := v.brought[v.entries[first].Digest], v.brought[v.entries[second].Digest]
	return len(from) == 0 || len(to) == 0 || intersect(withDescendants(v.state.commits, from), to)
}

func intersect(a, b map[string]bool) bool {
	for id := range b {
		if a[id] {
			return true
		}
	}
	return false
}

// switches is how often the change was switched until it was in its lane for
// good, as its trailers and the records of jobs say.
func (v *laneView) switches() int {
	n := 0
	for i, s := range v.state.switches {
		if s.to == v.state.claim.Lane {
			n = i + 1
		}
	}
	return n + len(v.state.jobs.switches)
}

// demands reports whether an entry is for evidence that the lane demands.
func (v *laneView) demands(e laneEntry) bool {
	return slices.ContainsFunc(slices.Concat(v.state.rigour.Before, v.state.rigour.After), func(pattern string) bool {
		return policy.MatchTask(pattern, e.TaskID)
	})
}

// evidence are the places of the entries that give what a pattern demands.
// undone is that of the last one which matches it and does not count, -1 for
// none.
func (v *laneView) evidence(pattern string) (done []int, undone int) {
	undone = -1
	for i, e := range v.entries {
		switch {
		case !policy.MatchTask(pattern, e.TaskID):
		case e.done():
			done = append(done, i)
		default:
			undone = i
		}
	}
	return done, undone
}

// undone says why the entry at a place does not count.
func (v *laneView) undone(place int) string {
	e := v.entries[place]
	if !e.Evidenced || !e.Told {
		return v.words(e) + " is there but has no evidence that says anything"
	}
	return fmt.Sprintf("%s is there but not completed: its status is %q", v.words(e), e.Status)
}

// taskList names the first few of some tasks, with their logs where the change
// adds to several.
func (v *laneView) taskList(tasks []laneTask, most int) string {
	logs := slices.ContainsFunc(v.entries, func(e laneEntry) bool { return e.path != v.entries[0].path })
	var names []string
	for i, t := range tasks {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(tasks)-most))
			break
		}
		name := t.id
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == ' ' || !strconv.IsPrint(r) }) {
			name = strconv.Quote(name)
		}
		if logs {
			name += " (" + t.path + ")"
		}
		names = append(names, name)
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
