package lane

import (
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// done are the statuses in which a dependency does not hold up the children that depend on it.
var done = []string{"complete", "skipped", "cancelled"}

// CheckChildren reports what is wrong with a campaign's children: fields, duplicate names, unknown or circular dependencies, a child that is
// complete before one that it depends on.
func (r *Record) CheckChildren() []small.Problem {
	if problems := checkSchema(childrenSchema(), r.doc, childExample); len(problems) > 0 {
		return problems
	}
	var out []small.Problem
	byName, lines := map[string]*Child{}, map[string]int{}
	for i := range r.Children {
		c := &r.Children[i]
		out = append(out, checkUnique(c.Name, "child", c.subject, lines)...)
		if byName[c.Name.Text] == nil {
			byName[c.Name.Text] = c
		}
	}
	for i := range r.Children {
		c := &r.Children[i]
		for _, d := range c.DependsOn {
			on := byName[d.Text]
			switch {
			case on == nil:
				out = append(out, newProblem(d.Pos, c.subject+".dependsOn", "name a child of this campaign",
					"%q depends on %q, which is not a child of the campaign", clip(c.Name.Text), clip(d.Text)))
			case c.Status.Text == "complete" && on != c && !slices.Contains(done, on.Status.Text):
				out = append(out, newProblem(c.Status.Pos, c.subject+".status", "complete what it depends on first, or mark that as skipped or cancelled",
					"%q is complete, but %q, on which it depends, is %s", clip(c.Name.Text), clip(d.Text), on.Status.Text))
			}
		}
	}
	return append(out, r.checkCycles(byName)...)
}

// checkCycles reports the first cycle of dependencies that a depth-first search finds. The search has its own stack, because a chain of dependencies may
// be as long as the file.
func (r *Record) checkCycles(byName map[string]*Child) []small.Problem {
	next := map[*Child]int{}  // the next dependency to look at
	open := map[*Child]bool{} // whether a child is on the current path
	for i := range r.Children {
		way := []*Child{&r.Children[i]}
		for len(way) > 0 {
			at := way[len(way)-1]
			open[at] = next[at] < len(at.DependsOn)
			if !open[at] {
				way = way[:len(way)-1]
				continue
			}
			d := at.DependsOn[next[at]]
			next[at]++
			on := byName[d.Text]
			if on != nil && open[on] {
				names := []string{clip(on.Name.Text)}
				for _, c := range way[slices.Index(way, on)+1:] {
					names = append(names, clip(c.Name.Text))
				}
				return []small.Problem{newProblem(d.Pos, at.subject+".dependsOn", "remove one of these dependencies",
					"the dependencies form a cycle: %s", writeCycle(append(names, clip(on.Name.Text))))}
			}
			if on != nil {
				way = append(way, on)
			}
		}
	}
	return nil
}

// writeCycle writes a cycle of names, and shortens a long one.
func writeCycle(names []string) string {
	const most = 12
	if len(names) > most {
		names = slices.Concat(names[:most-2], []string{"…"}, names[len(names)-1:])
	}
	return strings.Join(names, " -> ")
}
