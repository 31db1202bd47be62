package lane

import (
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// place is a kind of mapping in a workflow's front matter: the keys that it may
// have, and how each is written. An item is one of a list under a key.
type place []struct{ key, example, item string }

// The mappings of a front matter; a test holds them against the schema.
var (
	topKeys = place{
		{"display_name", "display_name: Fast job", ""},
		{"description", "description: For small changes", ""},
		{"kind", "kind: job", ""},
		{"initial_phase", "initial_phase: planning", ""},
		{"initial_status", "initial_status: queued", ""},
		{"phases", "phases: [{name: planning, agent: agents/planner.md}]", "{name: planning, agent: agents/planner.md}"},
		{"overrides", "overrides: {jira: {initial_phase: planning}}", "{initial_phase: planning}"},
	}
	phaseKeys = place{
		{"name", "name: planning", ""},
		{"agent", "agent: agents/planner.md", ""},
		{"tier", "tier: coding", ""},
		{"model", "model: large", ""},
		{"provider", "provider: local", ""},
		{"status", "status: planning", ""},
		{"interactive_checkpoint", "interactive_checkpoint: true", ""},
		{"tools", "tools: [read, edit]", "read"},
		{"subagents", "subagents: [{name: code-reviewer, agent: agents/code-reviewer.md}]", "{name: code-reviewer, agent: agents/code-reviewer.md}"},
	}
	subagentKeys = place{
		{"name", "name: code-reviewer", ""},
		{"agent", "agent: agents/code-reviewer.md", ""},
		{"tier", "tier: mini", ""},
		{"model", "model: large", ""},
		{"provider", "provider: local", ""},
		{"tools", "tools: [read]", "read"},
	}
	overrideKeys = place{{"initial_phase", "initial_phase: planning", ""}}
)

func (p place) keys() []string {
	keys := make([]string, len(p))
	for i := range p {
		keys[i] = p[i].key
	}
	return keys
}

// placeOf is the mapping that the last of some steps is a key of; nil if the
// steps lead to no key.
func placeOf(steps []string) place {
	switch {
	case len(steps) == 1:
		return topKeys
	case steps[0] == "overrides" && len(steps) == 3:
		return overrideKeys
	case steps[0] == "phases" && len(steps) == 3:
		return phaseKeys
	case steps[0] == "phases" && len(steps) == 5 && steps[2] == "subagents":
		return subagentKeys
	}
	return nil
}

// mostAdvised bounds how many problems get the word that was probably meant, and
// so the work on a file that is wrong from end to end.
const mostAdvised = 200

// advise adds what to do to the problems of a front matter that do not say so.
func advise(doc *small.Document, problems []small.Problem) {
	for i := range problems {
		p := &problems[i]
		if quotes := strings.HasPrefix(p.Hint, "quote it"); p.Subject != "" && (p.Hint == "" || quotes && !isName(p.Subject)) {
			p.Hint = adviceAt(doc.Root, stepsOf(doc.Root, p.Subject), i < mostAdvised)
		}
		switch {
		case p.Hint != "":
		case strings.HasSuffix(p.Message, "does not know there"):
			p.Hint = "remove it; docs/workflows.md lists the keys"
		default:
			p.Hint = "write what the message asks for; docs/workflows.md shows each key"
		}
	}
}

// isName reports whether a value is a name, which may be any text: of others it
// is no help to put what stands there in quotes.
func isName(subject string) bool {
	return !strings.HasSuffix(subject, ".agent") && !strings.HasSuffix(subject, ".tier")
}

// stepsOf parts the path of a value. A trigger is any text, dots included.
func stepsOf(root *small.Value, subject string) []string {
	rest, found := strings.CutPrefix(subject, "overrides.")
	overrides := root.Get("overrides")
	if !found || overrides == nil {
		return strings.Split(subject, ".")
	}
	if overrides.Get(rest) != nil {
		return []string{"overrides", rest}
	}
	if dot := strings.LastIndexByte(rest, '.'); dot >= 0 && overrides.Get(rest[:dot]) != nil {
		return []string{"overrides", rest[:dot], rest[dot+1:]}
	}
	return strings.Split(subject, ".")
}

// adviceAt says what to write at a place; empty if it does not know.
func adviceAt(root *small.Value, steps []string, near bool) string {
	last := steps[len(steps)-1]
	if in := placeOf(steps); in != nil {
		known := slices.IndexFunc(in.keys(), func(key string) bool { return key == last })
		if known < 0 {
			return meant(root.At(steps[:len(steps)-1]), last, in.keys(), near)
		}
		return rewrite(root.At(steps), in[known].example)
	}
	// It is an item of a list, or of the overrides.
	above := steps[:len(steps)-1]
	for _, k := range placeOf(above) {
		if k.key == above[len(above)-1] && k.item != "" {
			return "write it like this: " + k.item
		}
	}
	return ""
}

// rewrite says how to write what is not as it should be.
func rewrite(v *small.Value, example string) string {
	if text, is := v.Str(); is && strings.HasSuffix(example, ": true") {
		if word := policy.TruthWord(text); word != "" {
			return "write " + word + ", without quotes"
		}
	}
	if v.Kind == small.Null && !strings.HasPrefix(example, "phases: ") && !strings.HasPrefix(example, "name: ") {
		return "write it like this: " + example + "; or leave the key out"
	}
	return "write it like this: " + example
}

// meant says which key an unknown one of a mapping was probably meant to be.
func meant(in *small.Value, key string, known []string, near bool) string {
	var free []string
	for _, k := range known {
		if in.Get(k) == nil {
			free = append(free, k)
		}
	}
	if near && len(free) > 0 {
		if word := policy.Suggest(key, free); word != "" {
			return "did you mean " + strconv.Quote(word) + "?"
		}
	}
	return "remove it; the keys here are " + strings.Join(known, ", ")
}
