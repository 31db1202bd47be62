package lane

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// reviewer is the subagent that looks at code while it is written.
const reviewer = "code-reviewer"

// shape is what a workflow of a well-known name promises: its phases in their
// order. A step that can be done by one of several phases names them all.
type shape struct {
	lane  string
	steps [][]string
}

// shapes are the four well-known workflows. Older campaigns begin with
// campaign-architecture and end with campaign-integration.
var shapes = map[string]shape{
	"job":      {"STANDARD", steps("spec-writing", "planning", "coding", "review", "evaluation")},
	"job-fast": {"FAST", steps("planning", "coding", "review-and-verify")},
	"job-deep": {"DEEP", steps("spec-writing", "analysis", "planning", "coding", "review", "qa", "evaluation")},
	"campaign": {"campaign", steps("campaign-planning|campaign-architecture", "coordinating", "aggregation|campaign-integration")},
}

func steps(names ...string) [][]string {
	out := make([][]string, len(names))
	for i, name := range names {
		out[i] = strings.Split(name, "|")
	}
	return out
}

// OfWorkflow is the lane that a workflow promises by its name, given its path or
// that of its folder; the zero Lane for one that promises none.
func OfWorkflow(name string) Lane {
	folder := path.Clean(name)
	if path.Base(folder) == "workflow.md" {
		folder = path.Dir(folder)
	}
	s, _ := wellKnown(path.Base(folder))
	l, _ := Parse(s.lane)
	return l
}

// CheckShape says what a workflow of a well-known name lacks of what its lane
// promises. A workflow of another name promises nothing.
func (w *Workflow) CheckShape() []small.Problem {
	s, known := wellKnown(w.Name)
	if !known {
		return nil
	}
	promise := "the workflow " + w.Name
	if s.lane != w.Name {
		promise += " (" + s.lane + ")"
	}
	var out []small.Problem
	last, lastName := -1, ""
	for i, step := range s.steps {
		at := slices.IndexFunc(w.Phases, func(p Phase) bool { return slices.Contains(step, p.Name) })
		if at < 0 {
			out = append(out, problem(w.phasesPos(), "phases."+step[0], addPhase(s.steps, i),
				"%s lacks the phase %s", promise, strconv.Quote(step[0])))
			continue
		}
		if at < last {
			out = append(out, problem(w.Phases[at].Pos, w.Phases[at].subject+".name", "put the phases in this order: "+s.order(),
				"%s promises %q after %q", promise, clip(w.Phases[at].Name), lastName))
		} else {
			last, lastName = at, w.Phases[at].Name
		}
		out = append(out, w.checkStep(&w.Phases[at], promise)...)
	}
	return out
}

// addPhase says where to add a step that is not there.
func addPhase(steps [][]string, i int) string {
	where := "first"
	if i > 0 {
		where = "after " + strings.Join(steps[i-1], " or ")
	}
	agent := ", with its agent"
	if slices.Contains(agentless, steps[i][0]) {
		agent = ", with agent: null"
	}
	return "add the phase " + strings.Join(steps[i], " or ") + " " + where + agent + "; or give the workflow's folder another name"
}

// order is the shape's phases in their order.
func (s shape) order() string {
	names := make([]string, len(s.steps))
	for i, step := range s.steps {
		names[i] = strings.Join(step, " or ")
	}
	return strings.Join(names, ", ")
}

// checkStep says what a phase of a well-known workflow is without.
func (w *Workflow) checkStep(p *Phase, promise string) []small.Problem {
	switch {
	case p.Name == "coding" && !slices.ContainsFunc(p.Subagents, func(s Subagent) bool { return s.Name.Text == reviewer }):
		return []small.Problem{problem(p.Pos, p.subject+".subagents", "write it like this: subagents: [{name: "+reviewer+", agent: agents/"+reviewer+".md}]",
			"%s promises the subagent %q in the phase %q", promise, reviewer, p.Name)}
	case p.Name == "coordinating" && p.Agent.Text != "":
		return []small.Problem{problem(p.Agent.Pos, p.subject+".agent", "write agent: null",
			"%s promises that no agent works in the phase %q", promise, p.Name)}
	}
	return nil
}

// wellKnown is the shape of a well-known workflow. Upper and lower case are the
// same, as they are to whoever reads the name, and on some disks.
func wellKnown(name string) (shape, bool) {
	s, known := shapes[strings.ToLower(name)]
	return s, known
}

// merges reports whether a workflow ends in a merge: one of the four well-known
// ones does, and one whose kind is job or campaign. Where no kind says otherwise,
// so does one that writes code.
func (w *Workflow) merges() bool {
	if _, known := wellKnown(w.Name); known {
		return true
	}
	kind := strings.TrimSpace(w.Kind)
	if kind == "" {
		return slices.ContainsFunc(w.Phases, func(p Phase) bool { return p.Name == "coding" || p.Tier.Text == "coding" })
	}
	return strings.EqualFold(kind, "job") || strings.EqualFold(kind, "campaign")
}

// CheckCheckpoint says that a workflow which ends in a merge asks no person on
// the way.
func (w *Workflow) CheckCheckpoint() []small.Problem {
	if !w.merges() {
		return nil
	}
	if slices.ContainsFunc(w.Phases, func(p Phase) bool { return p.Checkpoint }) {
		return nil
	}
	return []small.Problem{problem(w.phasesPos(), "phases", "add interactive_checkpoint: true to the phase after which a person is to agree",
		"the workflow %q merges without asking a person: no phase has interactive_checkpoint: true", clip(w.Name))}
}
