package lane

import (
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// cycles reports the circles of dependencies: one of each group of children that
// wait for one another, at the dependency that closes it.
func cycles(children []Child, byName map[string]*Child) []small.Problem {
	w := waiting{byName: byName, seen: map[*Child]*waiter{}}
	for i := range children {
		if w.seen[&children[i]] == nil {
			w.from(&children[i])
		}
	}
	return w.problems
}

// waiting finds the strongly connected groups of children (Tarjan, "Depth-First
// Search and Linear Graph Algorithms", 1972), with a stack of its own: a campaign
// may be as deep as a file is long.
type waiting struct {
	byName   map[string]*Child
	seen     map[*Child]*waiter
	open     []*waiter // those whose group is not complete
	closers  int
	problems []small.Problem
}

// waiter is one child on the way.
type waiter struct {
	child  *Child
	parent *waiter
	// next is the dependency that is looked at next, number the order in which
	// children were reached, and low the least number that is reached from here.
	next, number, low int
	// onWay is true while what it depends on is being looked at, grouped once all
	// that waits with it is known.
	onWay, grouped bool
	// closes is the first dependency of the child that leads back to one above
	// it, as the place in DependsOn; order counts those of all children.
	closes, order int
}

func (w *waiting) enter(c *Child, parent *waiter) *waiter {
	n := len(w.seen)
	at := &waiter{child: c, parent: parent, number: n, low: n, onWay: true, closes: -1}
	w.seen[c] = at
	w.open = append(w.open, at)
	return at
}

func (w *waiting) from(c *Child) {
	for at := w.enter(c, nil); at != nil; {
		if at.next == len(at.child.DependsOn) {
			if at.low == at.number {
				w.group(at)
			}
			if at.parent != nil {
				at.parent.low = min(at.parent.low, at.low)
			}
			at.onWay = false
			at = at.parent
			continue
		}
		at.next++
		on := w.byName[at.child.DependsOn[at.next-1].Text]
		if on == nil {
			continue
		}
		switch there := w.seen[on]; {
		case there == nil:
			at = w.enter(on, at)
		case !there.grouped:
			at.low = min(at.low, there.number)
			if at.closes < 0 && there.onWay {
				at.closes, at.order = at.next-1, w.closers
				w.closers++
			}
		}
	}
}

// group takes the children that wait for one another off the stack, and reports
// the circle that was found first.
func (w *waiting) group(first *waiter) {
	from := slices.Index(w.open, first)
	members := w.open[from:]
	w.open = w.open[:from]
	var closer *waiter
	for _, m := range members {
		m.grouped = true
		if m.closes >= 0 && (closer == nil || m.order < closer.order) {
			closer = m
		}
	}
	if closer == nil {
		return
	}
	d := closer.child.DependsOn[closer.closes]
	on := w.seen[w.byName[d.Text]]
	names := []string{clip(on.child.Name.Text)}
	for at := closer; at != on; at = at.parent {
		names = append(names, clip(at.child.Name.Text))
	}
	names = append(names, clip(on.child.Name.Text))
	slices.Reverse(names)
	words, hint := "the dependencies go round in a circle: "+circle(names), "take one of the dependencies out"
	if more := len(members) - (len(names) - 1); more > 0 {
		words += "; " + itoa(len(members)) + " children wait for one another"
		hint += ", and then whatever is left of the circles"
	}
	w.problems = append(w.problems, problem(d.Pos, closer.child.subject+".dependsOn", hint, "%s", words))
}

// circle writes a circle of names, a long one in part.
func circle(names []string) string {
	const most = 12
	if len(names) > most {
		names = slices.Concat(names[:most-2], []string{"…"}, names[len(names)-1:])
	}
	return strings.Join(names, " -> ")
}
