package threeway

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

// Colliding are the ids under which both sides added a task, each another one. Tasks with the same title are the same task.
func (m Merge) Colliding() map[string]bool {
	f, err := m.three(small.Plan)
	if err != nil {
		return nil // merging the plan reports it
	}
	return f.colliding()
}

func (f files) colliding() map[string]bool {
	known, others, out := byID(get(f.base.root, "tasks")), byID(get(f.theirs.root, "tasks")), map[string]bool{}
	for id, mine := range byID(get(f.ours.root, "tasks")) {
		if other := others[id]; other != nil && known[id] == nil && titleOf(mine) != titleOf(other) {
			out[id] = true
		}
	}
	return out
}

func titleOf(task *yaml.Node) string { return text(get(task, "title")) }

// renumber gives tasks that both sides added under one id different ids. Only wanted ids are considered.
func (m Merge) renumber(f files, wanted func(id string) bool) (notes []string, err error) {
	before, ours, theirs := get(f.base.root, "tasks"), get(f.ours.root, "tasks"), get(f.theirs.root, "tasks")
	if ours == nil || theirs == nil || !named(ours) || !named(theirs) {
		return nil, nil
	}
	colliding := f.colliding()
	for _, mine := range ours.Content {
		id := idOf(mine)
		if !colliding[id] || !wanted(id) {
			continue
		}
		stays, err := m.staying(id, ours, theirs)
		if err != nil {
			return nil, err
		}
		side, in, list := m.Theirs, f.theirs, theirs
		if stays == Theirs {
			side, in, list = m.Ours, f.ours, ours
		}
		free := freeID(id, before, ours, theirs)
		rename(list, id, free)
		in.data = nil // it no longer matches any side's file
		notes = append(notes, fmt.Sprintf("task %s of %s (%s) is now %s", wording.Quote(id), side.Name, shown(get(byID(list)[free], "title")), wording.Quote(free)))
	}
	return notes, nil
}

// ErrByPerson is the cause of a stop that no command can end: a person has to edit the plan. The remedy says how, in a merge that is under way.
var ErrByPerson = errors.New("a person has to edit the plan")

// staying is the side whose task keeps an id that both sides gave to different tasks: the one that the caller prefers, or else the one that is
// referred to. If published entries name the other side's task, that is an error, whatever the caller prefers.
func (m Merge) staying(id string, ours, theirs *yaml.Node) (Preference, error) {
	mine, other := m.Ours.Kept[id], m.Theirs.Kept[id]
	stays, prefer := m.PreferPlan, Ours
	if stays == "" && m.Theirs.refersTo(id, theirs, m) {
		stays = Theirs
		if m.Ours.refersTo(id, ours, m) {
			stays = ""
		}
	} else if stays == "" {
		stays = Ours
	}
	if stays == Ours && !other || stays == Theirs && !mine {
		return stays, nil
	}
	var cause error
	why, name := "both are in use", m.Ours.Name
	if other {
		prefer, name = Theirs, m.Theirs.Name
	}
	remedy := fmt.Sprintf("%s keeps the id for the one of %s, and the other gets a free one", m.choose(prefer), name)
	switch {
	case mine && other:
		why, cause = "published entries name both", ErrByPerson
		path := small.Plan.Path(m.Dir)
		remedy = fmt.Sprintf("a person gives one of the two another id in %s, without conflict markers; then `git add -- %s`, then %s, which says which entries mean it",
			wording.Printable(path), wording.TopPath(path), m.reconcile(""))
	case stays != "":
		why = "published entries name that of " + name
	case !other && !mine:
		remedy += " (--plan theirs is the other way round)"
	}
	return "", &failure.Error{
		Message: fmt.Sprintf("%s: both sides added a task %s: %s of %s, %s of %s, and %s", small.Plan.Path(m.Dir), wording.Quote(id),
			shown(get(byID(ours)[id], "title")), m.Ours.Name, shown(get(byID(theirs)[id], "title")), m.Theirs.Name, why),
		Remedy: remedy,
		Err:    cause,
	}
}

// Retitled reports whether two plans give different titles to a task.
func Retitled(a, b []byte, limits small.Limits) bool {
	m := Merge{Limits: limits}
	others := byID(get(m.lenient(small.Plan, b), "tasks"))
	for id, task := range byID(get(m.lenient(small.Plan, a), "tasks")) {
		if other := others[id]; other != nil && titleOf(task) != titleOf(other) {
			return true
		}
	}
	return false
}

// Renumbered are the ids of a side's tasks that have another id in the merged plan, and the new ids: there the old one is another task's, and
// exactly one task that the side does not have has the title. In a plan of another run nothing follows from titles.
func (m Merge) Renumbered(v Version, merged []byte) map[string]string {
	if run, other := m.runOf(m.Ours.Files[small.Workspace]), m.runOf(m.Theirs.Files[small.Workspace]); run != other && run != "" && other != "" {
		return nil
	}
	before, after, out := get(m.lenient(small.Plan, v.Files[small.Plan]), "tasks"), get(m.lenient(small.Plan, merged), "tasks"), map[string]string{}
	for id, task := range byID(before) {
		if now := byID(after)[id]; now == nil || titleOf(now) == titleOf(task) {
			continue
		}
		if to := onlyTitled(after, titleOf(task), before); to != "" {
			out[id] = to
		}
	}
	return out
}

// onlyTitled is the id of the one task with a title; empty if there is none, or several, or one of the other lists has that id.
func onlyTitled(list *yaml.Node, title string, others ...*yaml.Node) (id string) {
	for _, t := range items(list) {
		if titleOf(t) != title {
			continue
		}
		if id != "" {
			return ""
		}
		id = idOf(t)
	}
	for _, other := range others {
		if byID(other)[id] != nil {
			return ""
		}
	}
	return id
}

// MayRenumber reports whether a task may get another id: both sides added one under the same id, or did so in earlier commits.
func (m Merge) MayRenumber() bool {
	f, err := m.three(small.Plan)
	return err == nil && (len(f.colliding()) > 0 || m.Theirs.Picked && f.follow())
}

// follow gives tasks of the merge base and of theirs the ids that ours has for them: an earlier commit of theirs was put on top, and its task got
// another id there. It reports whether there are any.
func (f files) follow() (any bool) {
	before, ours, theirs := get(f.base.root, "tasks"), get(f.ours.root, "tasks"), get(f.theirs.root, "tasks")
	for id, task := range byID(theirs) {
		was, now := byID(before)[id], byID(ours)[id]
		if was == nil || now == nil || titleOf(was) != titleOf(task) || titleOf(now) == titleOf(task) {
			continue
		}
		if to := onlyTitled(ours, titleOf(task), before, theirs); to != "" {
			rename(before, id, to)
			rename(theirs, id, to)
			f.theirs.data, any = nil, true // it no longer matches the side's file
		}
	}
	return any
}

// rename gives a task another id, also in the tasks of the list that depend on it.
func rename(list *yaml.Node, from, to string) {
	set := func(n *yaml.Node) {
		if text(n) == from {
			n.Value = to
		}
	}
	for _, t := range list.Content {
		set(get(t, "id"))
		for _, needed := range items(get(t, "depends_on")) {
			set(needed)
		}
	}
}

var numbered = expression.Of(`^(.*?)([0-9]{1,9})$`)

// freeID is an id similar to another one that no list has: the next number.
func freeID(id string, lists ...*yaml.Node) string {
	stem, last := id+"-", 1
	if parts := numbered().FindStringSubmatch(id); parts != nil {
		stem = parts[1]
	}
	for _, list := range lists {
		for _, t := range items(list) {
			rest, ours := strings.CutPrefix(idOf(t), stem)
			if n, err := strconv.Atoi(rest); ours && err == nil && len(rest) < 10 {
				last = max(last, n)
			}
		}
	}
	return stem + strconv.Itoa(last+1)
}
