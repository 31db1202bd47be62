package lane

import (
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/small"
)

// reviewer is the subagent that reviews code while it is written.
const reviewer = "code-reviewer"

// specWriting is the first phase of jobs; a fast one has none.
const specWriting = "spec-writing"

// shape is the phases, in order, that the name of a well-known workflow promises. a|b stands for either of two phases.
type shape struct {
	suffix string // follows the name in messages
	steps  []string
}

// shapes are the four well-known workflows. Older campaigns begin with
// campaign-architecture and end with campaign-integration.
var shapes = map[string]shape{
	"job":      {" (STANDARD)", []string{specWriting, "planning", "coding", "review", "evaluation"}},
	"job-fast": {" (FAST)", []string{"planning", "coding", "review-and-verify"}},
	"job-deep": {" (DEEP)", []string{specWriting, "analysis", "planning", "coding", "review", "qa", "evaluation"}},
	"campaign": {"", []string{"campaign-planning|campaign-architecture", "coordinating", "aggregation|campaign-integration"}},
}

// CheckShape reports what a workflow with a well-known name lacks of its shape. Other names promise nothing.
func (w *Workflow) CheckShape() []small.Problem {
	s, known := wellKnown(w.Name)
	if !known {
		return nil
	}
	which := "the workflow " + w.Name + s.suffix
	order := strings.ReplaceAll(strings.Join(s.steps, ", "), "|", " or ")
	var out []small.Problem
	last, lastName := -1, ""
	for _, step := range s.steps {
		names := strings.Split(step, "|")
		at := slices.IndexFunc(w.Phases, func(p Phase) bool { return slices.Contains(names, p.Name.Text) })
		if at < 0 {
			out = append(out, newProblem(w.phasesPos(), "phases."+names[0], "add it, or give the workflow's folder another name; the phases are "+order,
				"%s lacks the phase %q", which, names[0]))
			continue
		}
		p := &w.Phases[at]
		if at < last {
			out = append(out, newProblem(p.Name.Pos, p.subject+".name", "put the phases in this order: "+order,
				"%s promises %q after %q", which, p.Name.Text, lastName))
		} else {
			last, lastName = at, p.Name.Text
		}
		out = append(out, p.checkStep(which)...)
	}
	spec, begins := w.phase(specWriting), w.phase(w.Initial.Text)
	if s.steps[0] == specWriting && spec >= 0 && begins > spec {
		out = append(out, newProblem(w.Initial.Pos, "initial_phase", "write initial_phase: "+specWriting+"; overrides may begin elsewhere",
			"%s skips the phase %q and begins with %q: every job begins with its specification", which, specWriting, clip(w.Initial.Text)))
	}
	return out
}

// checkStep reports what a phase of a well-known workflow lacks.
func (p *Phase) checkStep(which string) []small.Problem {
	switch {
	case p.Name.Text == "coding" && !slices.ContainsFunc(p.Subagents, func(s Worker) bool { return s.Name.Text == reviewer }):
		return []small.Problem{newProblem(p.Name.Pos, p.subject+".subagents", "write it like this: subagents: [{name: "+reviewer+", agent: agents/"+reviewer+".md}]",
			"%s promises the subagent %q in the phase %q", which, reviewer, p.Name.Text)}
	case p.Name.Text == "coordinating" && p.Agent.Text != "":
		return []small.Problem{newProblem(p.Agent.Pos, p.subject+".agent", "write agent: ~",
			"%s promises that no agent works in the phase %q", which, p.Name.Text)}
	}
	return nil
}

// wellKnown returns the shape of a well-known workflow. It ignores case, as people and some file systems do.
func wellKnown(name string) (shape, bool) {
	s, known := shapes[strings.ToLower(name)]
	return s, known
}

// writesCode reports whether a phase writes code.
func (p *Phase) writesCode() bool { return p.Name.Text == "coding" || p.Tier.Text == "coding" }

// endsInMerge reports whether a workflow ends in a merge: the four well-known ones do, those of kind job or campaign, and those without a kind that
// write code.
func (w *Workflow) endsInMerge() bool {
	if _, known := wellKnown(w.Name); known {
		return true
	}
	if kind := strings.ToLower(strings.TrimSpace(w.Kind)); kind != "" {
		return kind == "job" || kind == campaignWorkflow
	}
	return slices.ContainsFunc(w.Phases, func(p Phase) bool { return p.writesCode() })
}

// personWords matches the words with which a phase without an agent says that a person does it.
var personWords = expression.Of(`(?i)approv|await|waiting|human|manual|person|sign-?off`)

// waitsForPerson reports whether the work waits for a person in a phase.
func (p *Phase) waitsForPerson() bool {
	return p.Checkpoint || p.NoAgent && (personWords().MatchString(p.Name.Text) || personWords().MatchString(p.Status))
}

// CheckCheckpoint reports a workflow that ends in a merge and does not wait for a person while or after code is written; if no phase
// writes code, it reports a workflow without any phase that waits.
func (w *Workflow) CheckCheckpoint() []small.Problem {
	if !w.endsInMerge() {
		return nil
	}
	coding := slices.IndexFunc(w.Phases, func(p Phase) bool { return p.writesCode() })
	if slices.ContainsFunc(w.Phases[max(coding, 0):], func(p Phase) bool { return p.waitsForPerson() }) {
		return nil
	}
	which, where := "no phase", "a phase"
	if coding >= 0 {
		which = fmt.Sprintf("neither the phase %q nor a later one", clip(w.Phases[coding].Name.Text))
		where = "that phase or a later one"
	}
	return []small.Problem{newProblem(w.phasesPos(), "phases", "add interactive_checkpoint: true to "+where,
		"the workflow %q merges without asking a person: %s has a checkpoint", clip(w.Name), which)}
}
