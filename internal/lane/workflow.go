package lane

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Workflow is the front matter of one workflow file.
type Workflow struct {
	// Path is the file's, slash-separated from the root of the tree; Name is that
	// of the folder it lies in, and Base the folder that holds "workflows", from
	// which agent files are named.
	Path, Name, Base string
	// Kind is "job", "campaign", "internal" or another word; empty where the file
	// does not say.
	Kind string
	// Initial is the phase to begin with: initial_phase, else the first.
	Initial Ref
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
	// NoAgent is true where the file says that there is none (agent: ~).
	NoAgent bool
	// Tier and Status are empty where the file does not say.
	Tier   Ref
	Status string
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

// ParseWorkflow reads a workflow file; file is its path. The workflow is nil if
// there is no front matter that fits the schema, and then problems say why.
// unknown are the keys that a workflow does not have.
func ParseWorkflow(file string, data []byte, limits small.Limits) (w *Workflow, problems, unknown []small.Problem) {
	doc, problems := parseFrontMatter(data, limits)
	if doc == nil {
		return nil, problems, nil
	}
	unknown = unknownKeys(doc.Root)
	if problems := checkSchema(workflowSchema(), doc, workflowExample); len(problems) > 0 {
		return nil, problems, unknown
	}
	w = &Workflow{Path: file, Name: path.Base(path.Dir(file)), Base: baseOf(file), root: doc.Root}
	w.Kind, _ = doc.Root.Get("kind").Str()
	for i, v := range doc.Root.Get("phases").Items {
		w.Phases = append(w.Phases, phaseAt(v, i))
	}
	if w.Initial = refAt(doc.Root.Get("initial_phase")); w.Initial.Text == "" {
		w.Initial = Ref{w.Phases[0].Name, w.Phases[0].Pos}
	}
	if overrides := doc.Root.Get("overrides"); overrides != nil {
		for _, f := range overrides.Fields {
			w.Overrides = append(w.Overrides, Override{Trigger: f.Key, Initial: refAt(f.Value.Get("initial_phase"))})
		}
	}
	return w, nil, unknown
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
	name, agent := v.Get("name"), v.Get("agent")
	p := Phase{
		Name: name.Text, Pos: name.Pos, Agent: refAt(agent), NoAgent: agent != nil && agent.Kind == small.Null,
		Tier: refAt(v.Get("tier")), Status: refAt(v.Get("status")).Text, Checkpoint: isBool(v.Get("interactive_checkpoint"), "true"),
		subject: "phases." + strconv.Itoa(index),
	}
	for i, s := range listOf(v, "subagents") {
		p.Subagents = append(p.Subagents, Subagent{
			Name: refAt(s.Get("name")), Agent: refAt(s.Get("agent")), Tier: refAt(s.Get("tier")),
			subject: p.subject + ".subagents." + strconv.Itoa(i),
		})
	}
	return p
}

// HasPhase reports whether a workflow has a phase of that name.
func (w *Workflow) HasPhase(name string) bool {
	return slices.ContainsFunc(w.Phases, func(p Phase) bool { return p.Name == name })
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

// agentless are the phases that need no agent: the harness itself does them.
var agentless = []string{"coordinating", "tracking"}

// tiers are the classes of model that a phase may ask for.
var tiers = []string{"planning", "coding", "mini"}

// CheckPhases says what is wrong with the phases, one against the other: names
// that are there twice, a phase to begin with that does not exist, an agent that
// is not mentioned, an unknown tier.
func (w *Workflow) CheckPhases() []small.Problem {
	var out []small.Problem
	first := map[string]int{}
	for _, p := range w.Phases {
		if line := first[p.Name]; line > 0 {
			out = append(out, problem(p.Pos, p.subject+".name", "a phase's name is its id: give each its own",
				"the phase %q is there twice; the first is in line %d", clip(p.Name), line))
		} else {
			first[p.Name] = p.Pos.Line
		}
		out = append(out, p.check()...)
	}
	begin := func(ref Ref, subject string) {
		if first[ref.Text] == 0 {
			out = append(out, problem(ref.Pos, subject, "name one of the workflow's phases, such as "+clip(w.Phases[0].Name),
				"there is no phase %q to begin with", clip(ref.Text)))
		}
	}
	begin(w.Initial, "initial_phase")
	for _, o := range w.Overrides {
		begin(o.Initial, "overrides."+clip(o.Trigger)+".initial_phase")
	}
	return out
}

func (p *Phase) check() []small.Problem {
	var out []small.Problem
	if p.Agent.Text == "" && !p.NoAgent && !slices.Contains(agentless, p.Name) {
		out = append(out, problem(p.Pos, p.subject+".agent", "name the agent's file (agent: agents/planner.md), or write `agent: ~` for a phase without one",
			"the phase %q does not say which agent does it", clip(p.Name)))
	}
	out = append(out, checkTier(p.Tier, p.subject)...)
	first := map[string]int{}
	for _, s := range p.Subagents {
		if line := first[s.Name.Text]; line > 0 {
			out = append(out, problem(s.Name.Pos, s.subject+".name", "give each subagent of a phase a name of its own",
				"the subagent %q is there twice; the first is in line %d", clip(s.Name.Text), line))
		} else {
			first[s.Name.Text] = s.Name.Pos.Line
		}
		out = append(out, checkTier(s.Tier, s.subject)...)
	}
	return out
}

func checkTier(tier Ref, subject string) []small.Problem {
	if tier.Pos.Line == 0 || slices.Contains(tiers, tier.Text) {
		return nil
	}
	return []small.Problem{problem(tier.Pos, subject+".tier", "write planning, coding or mini; a model is named under the key model",
		"there is no tier %q", clip(tier.Text))}
}

// The keys of a front matter; a test holds them against the schema.
var (
	topKeys      = []string{"display_name", "description", "kind", "initial_phase", "initial_status", "phases", "overrides"}
	phaseKeys    = []string{"name", "agent", "tier", "model", "provider", "status", "interactive_checkpoint", "tools", "subagents"}
	subagentKeys = []string{"name", "agent", "tier", "model", "provider", "tools"}
	overrideKeys = []string{"initial_phase"}
)

// unknownKeys lists the keys of a front matter that a workflow does not have.
func unknownKeys(root *small.Value) []small.Problem {
	var out []small.Problem
	check := func(v *small.Value, where, subject string, known []string) {
		if v == nil {
			return
		}
		for _, f := range v.Fields {
			if slices.Contains(known, f.Key) {
				continue
			}
			hint := "remove it; the keys here are " + strings.Join(known, ", ")
			if near := policy.Suggest(f.Key, known); near != "" && v.Get(near) == nil {
				hint = "did you mean " + strconv.Quote(near) + "?"
			}
			out = append(out, problem(f.KeyPos, subject+clip(f.Key), hint, "unknown key %q in %s", clip(f.Key), where))
		}
	}
	check(root, "the workflow", "", topKeys)
	for i, p := range listOf(root, "phases") {
		subject := "phases." + strconv.Itoa(i) + "."
		check(p, "phase "+strconv.Itoa(i+1), subject, phaseKeys)
		for k, s := range listOf(p, "subagents") {
			check(s, "subagent "+strconv.Itoa(k+1), subject+"subagents."+strconv.Itoa(k)+".", subagentKeys)
		}
	}
	if overrides := root.Get("overrides"); overrides != nil {
		for _, f := range overrides.Fields {
			trigger := clip(f.Key)
			check(f.Value, "override "+strconv.Quote(trigger), "overrides."+trigger+".", overrideKeys)
		}
	}
	return out
}

// AgentRef is one place at which a workflow names an agent file.
type AgentRef struct {
	Ref
	// Subject is the path of the value inside the front matter.
	Subject string
	// Of says whose agent it is, for a message.
	Of string
	// Paths are where the file may lie, from the root of the tree; empty if what
	// is written leads out of the folders in which agents are looked for.
	Paths []string
}

// Agents lists the agent files that a workflow names. Roots are further folders
// in which they are looked for.
func (w *Workflow) Agents(roots []string) []AgentRef {
	folders := append([]string{w.Base}, roots...)
	var out []AgentRef
	add := func(ref Ref, subject, of, name string) {
		if ref.Text == "" {
			return
		}
		a := AgentRef{Ref: ref, Subject: subject, Of: of + " " + strconv.Quote(clip(name))}
		if clean := path.Clean(ref.Text); inside(clean) {
			for _, folder := range folders {
				if at := path.Join(folder, clean); !slices.Contains(a.Paths, at) {
					a.Paths = append(a.Paths, at)
				}
			}
		}
		out = append(out, a)
	}
	for _, p := range w.Phases {
		add(p.Agent, p.subject+".agent", "phase", p.Name)
		for _, s := range p.Subagents {
			add(s.Agent, s.subject+".agent", "subagent", s.Name.Text)
		}
	}
	return out
}

// inside reports whether a clean path can be that of a file below a folder.
func inside(clean string) bool {
	return !path.IsAbs(clean) && clean != "." && clean != ".." && !strings.HasPrefix(clean, "../") &&
		len(clean) <= longestPath && !strings.Contains(clean, "\x00")
}

// longestPath is what Linux opens (path_resolution(7)).
const longestPath = 4096
