package lane

import (
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// Workflow is the front matter of one workflow file.
type Workflow struct {
	// Path is the file's, slash-separated from the root of the tree; Name is that
	// of the folder it lies in, and Base the folder that holds "workflows", from
	// which agent files are named.
	Path, Name, Base string
	// Kind is what the file says it is: "job", "campaign", "internal" or another
	// word; empty where it says nothing.
	Kind string
	// Initial is the phase to begin with: initial_phase, else the first.
	Initial string
	Phases  []Phase
	// Overrides are other phases to begin with, by trigger.
	Overrides []Override

	root *small.Value
}

// Phase is one phase of a workflow.
type Phase struct {
	// Name is the phase's stable id.
	Name string
	Pos  small.Pos
	// Agent names the agent file; empty for a phase without one.
	Agent Ref
	// Tier is as it stands in the file, empty where it does not.
	Tier Ref
	// Checkpoint is true if a person has to agree before the work goes on.
	Checkpoint bool
	Subagents  []Subagent

	subject string
}

// Subagent is a helper that a phase's agent may call.
type Subagent struct {
	Name        Ref
	Agent, Tier Ref
	subject     string
}

// Override has a trigger begin with another phase.
type Override struct {
	Trigger string
	Initial Ref
}

// Ref is a text in a file, with its place. The zero Ref is one that is not
// there.
type Ref struct {
	Text string
	Pos  small.Pos
}

func refAt(v *small.Value) Ref {
	text, ok := v.Str()
	if !ok {
		return Ref{}
	}
	return Ref{Text: text, Pos: v.Pos}
}

// ParseWorkflow reads a workflow file; file is its path. It returns nil and the
// problems if there is no front matter that fits the schema; they are of kind
// ProblemSchema where it is YAML and says something else than is expected.
func ParseWorkflow(file string, data []byte, limits small.Limits) (*Workflow, []small.Problem) {
	doc, problems := parseFrontMatter(data, limits)
	if doc == nil {
		return nil, problems
	}
	if problems := workflowSchema().Check(doc); len(problems) > 0 {
		advise(doc, problems)
		return nil, problems
	}
	w := &Workflow{Path: file, Name: path.Base(path.Dir(file)), Base: baseOf(file), root: doc.Root}
	w.Kind, _ = doc.Root.Get("kind").Str()
	for i, v := range doc.Root.Get("phases").Items {
		w.Phases = append(w.Phases, phaseAt(v, i))
	}
	w.Initial = w.Phases[0].Name
	if initial, ok := doc.Root.Get("initial_phase").Str(); ok {
		w.Initial = initial
	}
	if overrides := doc.Root.Get("overrides"); overrides != nil {
		for _, f := range overrides.Fields {
			w.Overrides = append(w.Overrides, Override{Trigger: f.Key, Initial: refAt(f.Value.Get("initial_phase"))})
		}
	}
	return w, nil
}

// baseOf is the folder that holds the last "workflows" folder of a path. Of a
// path without one it is the folder two above the file's own.
func baseOf(file string) string {
	parts := strings.Split(path.Dir(file), "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i] == "workflows" {
			return strings.Join(parts[:i], "/")
		}
	}
	return strings.Join(parts[:max(len(parts)-2, 0)], "/")
}

func phaseAt(v *small.Value, index int) Phase {
	name := v.Get("name")
	p := Phase{
		Name: name.Text, Pos: name.Pos, Agent: refAt(v.Get("agent")), Tier: refAt(v.Get("tier")),
		subject: "phases." + itoa(index),
	}
	if checkpoint := v.Get("interactive_checkpoint"); checkpoint != nil {
		p.Checkpoint = strings.EqualFold(checkpoint.Text, "true")
	}
	if subagents := v.Get("subagents"); subagents != nil {
		for i, s := range subagents.Items {
			p.Subagents = append(p.Subagents, Subagent{
				Name: refAt(s.Get("name")), Agent: refAt(s.Get("agent")), Tier: refAt(s.Get("tier")),
				subject: p.subject + ".subagents." + itoa(i),
			})
		}
	}
	return p
}

// HasPhase reports whether a workflow has a phase of that name.
func (w *Workflow) HasPhase(name string) bool { return w.phase(name) != nil }

func (w *Workflow) phase(name string) *Phase {
	for i := range w.Phases {
		if w.Phases[i].Name == name {
			return &w.Phases[i]
		}
	}
	return nil
}

// phasesPos is where the list of phases is named.
func (w *Workflow) phasesPos() small.Pos {
	for _, f := range w.root.Fields {
		if f.Key == "phases" {
			return f.KeyPos
		}
	}
	return w.root.Pos
}
