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

// Colliding returns the ids under which both sides added different tasks. Tasks with the same title are the same task.
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

// renumber gives one of the two tasks that the sides added under one id another id, for each wanted id. notes say which task got which id.
func (m Merge) renumber(f files, wanted func(id string) bool) (notes []string, err error) {
	before, ours, theirs := get(f.base.root, "tasks"), get(f.ours.root, "tasks"), get(f.theirs.root, "tasks")
	if ours == nil || theirs == nil || !haveUniqueIDs(ours) || !haveUniqueIDs(theirs) {
		return nil, nil
	}
	colliding := f.colliding()
	for _, mine := range ours.Content {
		id := idOf(mine)
		if !colliding[id] || !wanted(id) {
			continue
		}
		stays, err := m.keepsID(id, ours, theirs)
		if err != nil {
			return nil, err
		}
		side, in, list := m.Theirs, f.theirs, theirs
		if stays == Theirs {
			side, in, list = m.Ours, f.ours, ours
		}
		free := freeID(id, before, ours, theirs)
		rename(list, id, free)
		in.data = nil // the tree differs from the side's file now
		notes = append(notes, fmt.Sprintf("task %s of %s (%s) is now %s", wording.Quote(id), side.Name, describeValue(get(byID(list)[free], "title")), wording.Quote(free)))
	}
	return notes, nil
}

// ErrByPerson is wrapped by a failure that no command can resolve: a person has to edit the plan during the merge, as the remedy says.
var ErrByPerson = errors.New("a person has to edit the plan")

// keepsID returns the side whose task keeps an id that both sides gave to different tasks: the side that the caller prefers, or else the one whose
// task is referred to. If published entries name the other side's task, that is an error, whatever the caller prefers.
func (m Merge) keepsID(id string, ours, theirs *yaml.Node) (Preference, error) {
	mine, other := m.Ours.NamedByPublished[id], m.Theirs.NamedByPublished[id]
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
	remedy := fmt.Sprintf("%s keeps the id for the one of %s, and the other gets a free one", m.commandWithPlan(prefer), name)
	switch {
	case mine && other:
		why, cause = "published entries name both", ErrByPerson
		path := small.Plan.Path(m.Dir)
		remedy = fmt.Sprintf("a person gives one of the two another id in %s, without conflict markers; then `git add -- %s`, then %s, which says which entries mean it",
			wording.Printable(path), wording.TopPath(path), m.commandWith(""))
	case stays != "":
		why = "published entries name that of " + name
	case !other && !mine:
		remedy += " (--plan theirs is the other way round)"
	}
	return "", &failure.Error{
		Message: fmt.Sprintf("%s: both sides added a task %s: %s of %s, %s of %s, and %s", small.Plan.Path(m.Dir), wording.Quote(id),
			describeValue(get(byID(ours)[id], "title")), m.Ours.Name, describeValue(get(byID(theirs)[id], "title")), m.Theirs.Name, why),
		Remedy: remedy,
		Err:    cause,
	}
}

// Retitled reports whether two plans give different titles to a task with one id.
func Retitled(a, b []byte, limits small.Limits) bool {
	m := Merge{Limits: limits}
	others := byID(get(m.parseOrNil(small.Plan, b), "tasks"))
	for id, task := range byID(get(m.parseOrNil(small.Plan, a), "tasks")) {
		if other := others[id]; other != nil && titleOf(task) != titleOf(other) {
			return true
		}
	}
	return false
}

// Renumbered maps the ids of a side's tasks to the different ids that they have in the merged plan. A task was renumbered if its id has another
// title there, and exactly one task that the side did not have has its title. If the sides have different runs, titles tell nothing, and the map is
// nil.
func (m Merge) Renumbered(v Version, merged []byte) map[string]string {
	if run, other := m.runOf(m.Ours.Files[small.Workspace]), m.runOf(m.Theirs.Files[small.Workspace]); run != other && run != "" && other != "" {
		return nil
	}
	before, after, out := get(m.parseOrNil(small.Plan, v.Files[small.Plan]), "tasks"), get(m.parseOrNil(small.Plan, merged), "tasks"), map[string]string{}
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

// onlyTitled returns the id of the only task with a title; empty if there is none or several, or if one of the other lists has the id.
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

// MayRenumber reports whether a task may get another id, because of this commit or, if theirs is picked, of an earlier one.
func (m Merge) MayRenumber() bool {
	f, err := m.three(small.Plan)
	return err == nil && (len(f.colliding()) > 0 || m.Theirs.Picked && f.renumberAsOurs())
}

// renumberAsOurs renumbers tasks of the merge base and of theirs as ours has them, after an earlier commit of theirs was put on top and its task got another
// id. It reports whether it renumbered any.
func (f files) renumberAsOurs() (any bool) {
	before, ours, theirs := get(f.base.root, "tasks"), get(f.ours.root, "tasks"), get(f.theirs.root, "tasks")
	for id, task := range byID(theirs) {
		was, now := byID(before)[id], byID(ours)[id]
		if was == nil || now == nil || titleOf(was) != titleOf(task) || titleOf(now) == titleOf(task) {
			continue
		}
		if to := onlyTitled(ours, titleOf(task), before, theirs); to != "" {
			rename(before, id, to)
			rename(theirs, id, to)
			f.theirs.data, any = nil, true // the tree differs from the side's file now
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

// freeID returns an id that no list has: the given one with the next free number.
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
