package lane

import (
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// terminal are the statuses of a child on which nothing follows.
var terminal = []string{"complete", "failed", "escalated", "skipped", "cancelled"}

// done are the statuses of a dependency on which a child can build: it is
// complete, or it turned out not to be needed.
var done = []string{"complete", "skipped"}

// CheckChildren says what is wrong with a campaign's children, as they stand:
// fields, names that are there twice, dependencies that are unknown or go round
// in a circle, a child that is complete before what it depends on.
func (r *Record) CheckChildren() []small.Problem {
	if problems := childrenSchema().Check(r.doc); len(problems) > 0 {
		return problems
	}
	byName := map[string]*Child{}
	var out []small.Problem
	for i := range r.Children {
		c := &r.Children[i]
		if first := byName[c.Name.Text]; first != nil {
			out = append(out, problem(c.Name.Pos, c.subject+".name", "give each child a name of its own",
				"the child %q is there twice; it stands in line %d already", clip(c.Name.Text), first.Name.Pos.Line))
			continue
		}
		byName[c.Name.Text] = c
	}
	for i := range r.Children {
		c := &r.Children[i]
		for _, d := range c.DependsOn {
			on := byName[d.Text]
			if on == nil {
				out = append(out, problem(d.Pos, c.subject+".dependsOn", "name a child of this campaign",
					"%q depends on %q, which is no child of the campaign", clip(c.Name.Text), clip(d.Text)))
				continue
			}
			if c.Status.Text == "complete" && on != c && !slices.Contains(done, on.Status.Text) {
				out = append(out, problem(c.Status.Pos, c.subject+".status", "complete first what it depends on",
					"%q is complete, and %q, on which it depends, is %s", clip(c.Name.Text), clip(d.Text), on.Status.Text))
			}
		}
	}
	return append(out, cycles(r.Children, byName)...)
}

// cycles reports each circle of dependencies once, at the dependency that closes
// it.
func cycles(children []Child, byName map[string]*Child) []small.Problem {
	const begun, finished = 1, 2
	var out []small.Problem
	state := map[*Child]int{}
	type step struct {
		child *Child
		next  int
	}
	for i := range children {
		if state[&children[i]] != 0 {
			continue
		}
		state[&children[i]] = begun
		for way := []step{{child: &children[i]}}; len(way) > 0; {
			at := &way[len(way)-1]
			if at.next == len(at.child.DependsOn) {
				state[at.child] = finished
				way = way[:len(way)-1]
				continue
			}
			d := at.child.DependsOn[at.next]
			at.next++
			on := byName[d.Text]
			switch {
			case on == nil || state[on] == finished:
			case state[on] == begun:
				from := slices.IndexFunc(way, func(s step) bool { return s.child == on })
				var names []string
				for _, s := range way[from:] {
					names = append(names, clip(s.child.Name.Text))
				}
				names = append(names, clip(on.Name.Text))
				out = append(out, problem(d.Pos, at.child.subject+".dependsOn", "take one of the dependencies out",
					"the dependencies go round in a circle: %s", circle(names)))
			default:
				state[on] = begun
				way = append(way, step{child: on})
			}
		}
	}
	return out
}

// circle writes a circle of names, a long one in part.
func circle(names []string) string {
	const most = 12
	if len(names) > most {
		names = slices.Concat(names[:most-2], []string{"…"}, names[len(names)-1:])
	}
	return strings.Join(names, " -> ")
}

// TurnedBack lists the children whose status was terminal in an earlier version
// of the record and is not any more. Of a name that is there twice nobody can say
// which child it is.
func (r *Record) TurnedBack(earlier *Record) []TurnedBack {
	before, times := earlier.statuses()
	_, now := r.statuses()
	var out []TurnedBack
	for _, c := range r.Children {
		was := before[c.Name.Text]
		if times[c.Name.Text] > 1 || now[c.Name.Text] > 1 {
			continue
		}
		if c.Status.Text != "" && slices.Contains(terminal, was) && !slices.Contains(terminal, c.Status.Text) {
			out = append(out, TurnedBack{Child: c.Name.Text, From: was, To: c.Status.Text, Pos: c.Status.Pos, Subject: c.subject + ".status"})
		}
	}
	return out
}

// statuses are those of the children by name, and how often each name is there.
func (r *Record) statuses() (status map[string]string, times map[string]int) {
	status, times = map[string]string{}, map[string]int{}
	for _, c := range r.Children {
		status[c.Name.Text] = c.Status.Text
		times[c.Name.Text]++
	}
	return status, times
}

// TurnedBack is a child's status that went back.
type TurnedBack struct {
	Child, From, To string
	Pos             small.Pos
	Subject         string
}
