package lane

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// agentless are the phases that need no agent: the harness itself does them.
var agentless = []string{"coordinating", "tracking"}

// tiers are the classes of model that a phase may ask for.
var tiers = []string{"planning", "coding", "mini"}

func itoa(n int) string { return strconv.Itoa(n) }

// CheckPhases says what is wrong with the phases, one against the other: names
// that are there twice, a phase to begin with that is none, a missing agent, an
// unknown tier.
func (w *Workflow) CheckPhases() []small.Problem {
	var out []small.Problem
	first := make(map[string]small.Pos, len(w.Phases))
	for _, p := range w.Phases {
		if at, twice := first[p.Name]; twice {
			out = append(out, problem(p.Pos, p.subject+".name", "a phase's name is its id: give each its own",
				"the phase %q is there twice; it stands in line %d already", clip(p.Name), at.Line))
		} else {
			first[p.Name] = p.Pos
		}
		out = append(out, p.check()...)
	}
	if initial := refAt(w.root.Get("initial_phase")); initial.Text != "" {
		if _, there := first[initial.Text]; !there {
			out = append(out, w.noPhase(initial, "initial_phase", len(out) < mostAdvised))
		}
	}
	for _, o := range w.Overrides {
		if _, there := first[o.Initial.Text]; !there {
			out = append(out, w.noPhase(o.Initial, "overrides."+clip(o.Trigger)+".initial_phase", len(out) < mostAdvised))
		}
	}
	return out
}

func (p *Phase) check() []small.Problem {
	var out []small.Problem
	if p.Agent.Text == "" && !slices.Contains(agentless, p.Name) {
		out = append(out, problem(p.Pos, p.subject+".agent", "name the agent's file, such as agent: agents/planner.md",
			"the phase %q has no agent; only %s need none", clip(p.Name), strings.Join(agentless, " and ")))
	}
	out = append(out, checkTier(p.Tier, p.subject)...)
	names := map[string]small.Pos{}
	for _, s := range p.Subagents {
		if at, twice := names[s.Name.Text]; twice {
			out = append(out, problem(s.Name.Pos, s.subject+".name", "give each subagent of a phase a name of its own",
				"the subagent %q is there twice; it stands in line %d already", clip(s.Name.Text), at.Line))
		} else {
			names[s.Name.Text] = s.Name.Pos
		}
		out = append(out, checkTier(s.Tier, s.subject)...)
	}
	return out
}

func checkTier(tier Ref, subject string) []small.Problem {
	if tier.Pos.Line == 0 || slices.Contains(tiers, tier.Text) {
		return nil
	}
	hint := "write planning, coding or mini; a model by name stands under model"
	if near := policy.Suggest(tier.Text, tiers); near != "" {
		hint = "did you mean " + strconv.Quote(near) + "? There are planning, coding and mini; a model by name stands under model"
	}
	return []small.Problem{problem(tier.Pos, subject+".tier", hint, "there is no tier %q", clip(tier.Text))}
}

// noPhase says that a reference names no phase, and which was probably meant.
func (w *Workflow) noPhase(ref Ref, subject string, near bool) small.Problem {
	const most = 12
	names := make([]string, 0, most)
	for _, p := range w.Phases[:min(len(w.Phases), most)] {
		names = append(names, clip(p.Name))
	}
	list := "he phases are " + inPlain(names)
	if more := len(w.Phases) - most; more > 0 {
		list += " and " + itoa(more) + " more"
	}
	hint := "t" + list
	if near {
		if word := policy.Suggest(ref.Text, names); word != "" {
			hint = "did you mean " + strconv.Quote(word) + "? T" + list
		}
	}
	return problem(ref.Pos, subject, hint, "there is no phase %q to begin with", clip(ref.Text))
}

// inPlain lists names, in quotes those that hold anything odd.
func inPlain(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		if out[i] = name; strconv.Quote(name) != `"`+name+`"` || strings.ContainsAny(name, ", ") {
			out[i] = strconv.Quote(name)
		}
	}
	return strings.Join(out, ", ")
}

// AgentRef is one place at which a workflow names an agent file.
type AgentRef struct {
	Ref
	// Subject is the path of the value inside the front matter.
	Subject string
	// Of names who it is the agent of, for a message.
	Of string
	// Paths are where the file may lie, from the root of the tree; empty if what
	// is written leads out of the folders in which agents are looked for.
	Paths []string
	// Folders are those in which it is looked for, "" for the root: that which
	// holds "workflows", then the roots.
	Folders []string
}

// Agents lists the agent files that a workflow names. Roots are further folders
// in which they are looked for.
func (w *Workflow) Agents(roots []string) []AgentRef {
	folders := []string{w.Base}
	for _, root := range roots {
		if root == "." {
			root = ""
		}
		if !slices.Contains(folders, root) {
			folders = append(folders, root)
		}
	}
	var out []AgentRef
	add := func(ref Ref, subject, of string) {
		if ref.Text == "" {
			return
		}
		a := AgentRef{Ref: ref, Subject: subject, Of: of, Folders: folders}
		if clean := path.Clean(ref.Text); !path.IsAbs(clean) && clean != ".." && !strings.HasPrefix(clean, "../") {
			for _, folder := range folders {
				at := path.Join(folder, clean)
				if strings.HasSuffix(ref.Text, "/") {
					at += "/" // which only a directory has
				}
				a.Paths = append(a.Paths, at)
			}
		}
		out = append(out, a)
	}
	for _, p := range w.Phases {
		add(p.Agent, p.subject+".agent", "the phase "+strconv.Quote(clip(p.Name)))
		for _, s := range p.Subagents {
			add(s.Agent, s.subject+".agent", "the subagent "+strconv.Quote(clip(s.Name.Text)))
		}
	}
	return out
}
