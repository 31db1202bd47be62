package lane

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Workflow is the front matter of one workflow file.
type Workflow struct {
	// Path is the file's path, slash-separated from the root of the tree. Name is the name of its folder. Base is the folder that contains the
	// folder "workflows"; names of agent files are relative to it.
	Path, Name, Base string
	// Kind is "job", "campaign", "internal" or another word; empty if missing.
	Kind string
	// Initial is the first phase: initial_phase, or else the first in the list.
	Initial Ref
	Phases  []Phase

	root *small.Value
}

// Phase is one phase of a workflow.
type Phase struct {
	Worker
	// NoAgent is true if the file says that the phase has no agent (agent: ~).
	NoAgent bool
	// Status is empty if missing.
	Status string
	// Checkpoint is true if a person must agree before the work continues.
	Checkpoint bool
	// Subagents are the helpers that the phase's agent may call.
	Subagents []Worker
}

// Worker is the common part of a phase and a subagent. Name identifies it; a missing field is the zero Ref.
type Worker struct {
	Name, Agent, Tier Ref
	subject           string // the path of the value in the file, for problems
}

// Ref is a text in a file, with its position. The zero Ref means that it is missing.
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

// ParseWorkflow reads the workflow file at a path. w is nil if the front matter is missing or does not fit the schema; then problems say
// why. unknown are keys that workflows do not have.
func ParseWorkflow(at string, data []byte, limits small.Limits) (w *Workflow, problems, unknown []small.Problem) {
	doc, problems := parseFrontMatter(data, limits)
	if doc == nil {
		return nil, problems, nil
	}
	unknown = unknownKeys(doc.Root)
	if problems := checkSchema(workflowSchema(), doc, workflowExample); len(problems) > 0 {
		return nil, problems, unknown
	}
	w = &Workflow{Path: at, Name: path.Base(path.Dir(at)), Base: baseOf(at), root: doc.Root}
	w.Kind, _ = doc.Root.Get("kind").Str()
	for i, v := range doc.Root.Get("phases").Items {
		w.Phases = append(w.Phases, phaseAt(v, i))
	}
	if w.Initial = refAt(doc.Root.Get("initial_phase")); w.Initial.Text == "" {
		w.Initial = w.Phases[0].Name
	}
	return w, nil, unknown
}

// baseOf returns the folder that contains the last folder "workflows" of a path. For a path without one, it is two folders above that of the file.
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
	agent := v.Get("agent")
	p := Phase{
		Worker: workerAt(v, "phases."+strconv.Itoa(index)), NoAgent: agent != nil && agent.Kind == small.Null,
		Status: refAt(v.Get("status")).Text, Checkpoint: isBool(v.Get("interactive_checkpoint"), "true"),
	}
	for i, s := range listOf(v, "subagents") {
		p.Subagents = append(p.Subagents, workerAt(s, p.subject+".subagents."+strconv.Itoa(i)))
	}
	return p
}

func workerAt(v *small.Value, subject string) Worker {
	return Worker{Name: refAt(v.Get("name")), Agent: refAt(v.Get("agent")), Tier: refAt(v.Get("tier")), subject: subject}
}

// phase returns the index of the phase with a name; -1 if there is none.
func (w *Workflow) phase(name string) int {
	return slices.IndexFunc(w.Phases, func(p Phase) bool { return p.Name.Text == name })
}

// phasesPos returns the position of the key "phases".
func (w *Workflow) phasesPos() small.Pos {
	for _, f := range w.root.Fields {
		if f.Key == "phases" {
			return f.KeyPos
		}
	}
	return w.root.Pos
}

// agentless are the names of phases that need no agent, because the harness runs them.
var agentless = []string{"coordinating", "tracking"}

// tiers are the classes of model that a phase may ask for.
var tiers = []string{"planning", "coding", "mini"}

// CheckPhases reports problems between phases: a duplicate name, an initial phase that is not in the list, a missing agent key, an unknown tier.
func (w *Workflow) CheckPhases() []small.Problem {
	var out []small.Problem
	phases := map[string]int{}
	for _, p := range w.Phases {
		out = append(out, p.check("phase", phases)...)
		if p.Agent.Text == "" && !p.NoAgent && !slices.Contains(agentless, p.Name.Text) {
			out = append(out, newProblem(p.Name.Pos, p.subject+".agent", "name the agent's file (agent: agents/planner.md), or write agent: ~ for a phase without one",
				"the phase %q does not name its agent", clip(p.Name.Text)))
		}
		subagents := map[string]int{}
		for _, s := range p.Subagents {
			out = append(out, s.check("subagent", subagents)...)
		}
	}
	checkInitial := func(ref Ref, subject string) {
		if phases[ref.Text] == 0 {
			out = append(out, newProblem(ref.Pos, subject, "name one of the workflow's phases, such as "+clip(w.Phases[0].Name.Text),
				"the initial phase %q does not exist", clip(ref.Text)))
		}
	}
	checkInitial(w.Initial, "initial_phase")
	for _, o := range w.root.Get("overrides").Members() {
		checkInitial(refAt(o.Value.Get("initial_phase")), "overrides."+clip(o.Key)+".initial_phase")
	}
	return out
}

// check reports a name that was seen before, and an unknown tier. firstLines has the line where each name was first seen, and gets new ones.
func (w *Worker) check(what string, firstLines map[string]int) []small.Problem {
	out := checkUnique(w.Name, what, w.subject, firstLines)
	if w.Tier.Pos.Line > 0 && !slices.Contains(tiers, w.Tier.Text) {
		out = append(out, newProblem(w.Tier.Pos, w.subject+".tier", "write planning, coding or mini; a model is named under the key model",
			"unknown tier %q", clip(w.Tier.Text)))
	}
	return out
}

// checkUnique reports a name that was seen before. firstLines has the line where each name was first seen, and gets new ones.
func checkUnique(name Ref, what, subject string, firstLines map[string]int) []small.Problem {
	if line := firstLines[name.Text]; line > 0 {
		return []small.Problem{newProblem(name.Pos, subject+".name", "give each "+what+" its own name",
			"the %s %q appears twice; the first is on line %d", what, clip(name.Text), line)}
	}
	firstLines[name.Text] = name.Pos.Line
	return nil
}

// The keys of a front matter; a test compares them with the schema.
var (
	topKeys      = []string{"display_name", "description", "kind", "initial_phase", "initial_status", "phases", "overrides"}
	phaseKeys    = []string{"name", "agent", "tier", "model", "provider", "status", "interactive_checkpoint", "tools", "subagents"}
	subagentKeys = []string{"name", "agent", "tier", "model", "provider", "tools"}
	overrideKeys = []string{"initial_phase"}
)

// unknownKeys lists the keys of a front matter that workflows do not have.
func unknownKeys(root *small.Value) []small.Problem {
	var out []small.Problem
	check := func(v *small.Value, where, subject string, known []string) {
		for _, f := range v.Fields {
			if slices.Contains(known, f.Key) {
				continue
			}
			hint := "remove it; the keys here are " + strings.Join(known, ", ")
			if near := policy.Suggest(f.Key, known); near != "" && v.Get(near) == nil {
				hint = "did you mean " + strconv.Quote(near) + "?"
			}
			out = append(out, newProblem(f.KeyPos, subject+clip(f.Key), hint, "unknown key %q in %s", clip(f.Key), where))
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
	for _, f := range root.Get("overrides").Members() {
		trigger := clip(f.Key)
		check(f.Value, "override "+strconv.Quote(trigger), "overrides."+trigger+".", overrideKeys)
	}
	return out
}

// AgentRef is one reference to an agent file in a workflow.
type AgentRef struct {
	Ref
	// Subject is the path of the value inside the front matter.
	Subject string
	// Of is the phase or subagent that has the agent, in words for messages.
	Of string
	// Paths are the possible paths of the file, from the root of the tree; empty if the reference leads out of the folders with agents.
	Paths []string
}

// Agents lists the references to agent files in a workflow. roots are further folders with agents.
func (w *Workflow) Agents(roots []string) []AgentRef {
	folders := []string{cmp.Or(w.Base, ".")}
	for _, root := range roots {
		if !slices.Contains(folders, root) {
			folders = append(folders, root)
		}
	}
	var out []AgentRef
	add := func(w Worker, what string) {
		if w.Agent.Text == "" {
			return
		}
		a := AgentRef{Ref: w.Agent, Subject: w.subject + ".agent", Of: what + " " + strconv.Quote(clip(w.Name.Text))}
		if clean := path.Clean(w.Agent.Text); IsBelow(clean) {
			for _, folder := range folders {
				a.Paths = append(a.Paths, path.Join(folder, clean))
			}
		}
		out = append(out, a)
	}
	for _, p := range w.Phases {
		add(p.Worker, "phase")
		for _, s := range p.Subagents {
			add(s, "subagent")
		}
	}
	return out
}

// IsBelow reports whether a clean path can be a file below a folder.
func IsBelow(clean string) bool {
	return !path.IsAbs(clean) && clean != "." && clean != ".." && !strings.HasPrefix(clean, "../") &&
		len(clean) <= longestPath && !strings.Contains(clean, "\x00")
}

// longestPath is the longest path that Linux opens (path_resolution(7)).
const longestPath = 4096
