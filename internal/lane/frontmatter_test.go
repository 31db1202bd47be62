package lane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// only is a front matter of one phase, with more of that phase.
func only(more string) string {
	return "---\nphases:\n  - {name: a, agent: agents/a.md" + more + "}\n---\n"
}

const (
	aPhase     = "phases: [{name: a, agent: agents/a.md}]\n"
	beginIt    = "begin the file with a line ---, the YAML that names the phases, and another line ---; if it is no workflow, add it to workflows: {exclude: [...]} in .small-gate.yml"
	writePhase = "write it like this: phases: [{name: planning, agent: agents/planner.md}]"
)

// oddFrontMatter are files with something odd in front. Want is the place and
// the advice of each problem; mended is the file after somebody followed it.
var oddFrontMatter = []struct {
	name, file, want, mended string
}{
	// What is read as it is meant.
	{"a byte order mark", "\ufeff---\n" + aPhase + "---\n", "", ""},
	{"CR LF", "---\r\n" + strings.ReplaceAll(aPhase, "\n", "\r\n") + "---\r\nprose\r\n", "", ""},
	{"white space after the dashes", "---  \n" + aPhase + "--- \t\n", "", ""},
	{"no line feed at the end", "---\n" + aPhase + "---", "", ""},
	{"anchors", "---\nphases:\n  - &p {name: a, agent: agents/a.md}\n  - {<<: *p, name: b}\n---\n", "", ""},
	{"dashes in a text", "---\ndescription: |\n  one\n  ---\n  two\n" + aPhase + "---\n", "", ""},
	{"prose that is no UTF-8", "---\n" + aPhase + "---\n\xff\xfe\n", "", ""},
	{"no overrides", "---\noverrides: {}\n" + aPhase + "---\n", "", ""},
	{"a checkpoint in capitals", only(", interactive_checkpoint: TRUE"), "", ""},

	// What is not front matter.
	{"nothing", "", "1:1 " + beginIt, only("")},
	{"a title first", "# Title\n" + only(""), "1:1 " + beginIt, only("") + "# Title\n"},
	{"four dashes", "----\n" + aPhase + "----\n", "1:1 " + beginIt, only("")},
	{"a blank line first", "\n\n" + only(""), "1:1 remove the white space before ---", only("")},
	{"no end", "---\n" + aPhase, "1:1 put a line --- between the YAML and the prose", "---\n" + aPhase + "---\n"},
	{"dots at the end", "---\n" + aPhase + "...\n\nprose\n---\n", "3:1 write --- in the place of this line; or remove it, if the front matter goes on below", "---\n" + aPhase + "---\n\nprose\n---\n"},
	{"CR alone", strings.ReplaceAll(only(""), "\n", "\r"), "1:1 save the file with line feeds", only("")},
	{"UTF-16", "\xff\xfe-\x00-\x00-\x00\n\x00", "1:1 save the file as UTF-8", only("")},

	// What is no YAML, or not of that kind.
	{"a tab", "---\nphases:\n\t- {name: a}\n---\n", "3:1 YAML indents with spaces; a tab may not stand there", only("")},
	{"a key twice", "---\n" + aPhase + aPhase + "---\n", "3:1 remove one of the two", "---\n" + aPhase + "---\n"},
	{"no UTF-8", "---\ndescription: \xff\n" + aPhase + "---\n", "2:14 save the file as UTF-8", only("")},
	{"a comment alone", "---\n# phases\n---\n", "1:1 name the phases, like this: phases: [{name: planning, agent: agents/planner.md}]", only("")},
	{"a list", "---\n- planning\n---\n", "2:1 name the phases, like this: phases: [{name: planning, agent: agents/planner.md}]", only("")},
	{"a number as key", only(", 1: x"), "3:35 remove it; the keys here are name, agent, tier, model, provider, status, interactive_checkpoint, tools, subagents", ""},

	// Phases.
	{"no phases", "---\nphases: []\n---\n", "2:9 " + writePhase, "---\nphases: [{name: planning, agent: agents/planner.md}]\n---\n"},
	{"phases without a value", "---\nphases:\n---\n", "2:8 " + writePhase, only("")},
	{"phases as a mapping", "---\nphases:\n  a: {agent: agents/a.md}\n---\n", "3:3 " + writePhase, only("")},
	{"a phase that is a word", "---\nphases: [a]\n---\n", "2:10 write it like this: {name: planning, agent: agents/planner.md}", only("")},
	{"no such phase", "---\ninitial_phase: codin\nphases: [{name: coding, agent: a}, {name: b, agent: a}]\n---\n", `2:16 did you mean "coding"? The phases are coding, b`, only("")},
	{"no such phase, and no near one", "---\noverrides: {jira: {initial_phase: zzz}}\nphases: [{name: \"a, b\", agent: a}]\n---\n", `2:35 the phases are "a, b"`, only("")},

	// Keys.
	{"initial_phases", "---\ninitial_phases: a\n" + aPhase + "---\n", `2:1 did you mean "initial_phase"?`, "---\ninitial_phase: a\n" + aPhase + "---\n"},
	{"interactive-checkpoint", only(", interactive-checkpoint: true"), `3:35 did you mean "interactive_checkpoint"?`, only(", interactive_checkpoint: true")},
	{"sub_agents", only(", sub_agents: []"), `3:35 did you mean "subagents"?`, only(", subagents: []")},
	{"a key that has its like already", only(", agents: x"), "3:35 remove it; the keys here are name, agent, tier, model, provider, status, interactive_checkpoint, tools, subagents", only("")},
	{"a key of nothing", "---\nzzz: x\n" + aPhase + "---\n", "2:1 remove it; the keys here are display_name, description, kind, initial_phase, initial_status, phases, overrides", only("")},
	{"a key with a dot", only(", x.y: 1"), "3:35 remove it; docs/workflows.md lists the keys", only("")},
	{"a subagent's key", only(", subagents: [{name: x, agent: y, teir: mini}]"), `3:67 did you mean "tier"?`, only(", subagents: [{name: x, agent: y, tier: mini}]")},
	{"an override's key", "---\noverrides: {a.b: {initial: a}}\n" + aPhase + "---\n", "2:18 write it like this: initial_phase: planning\n" + `2:19 did you mean "initial_phase"?`, "---\noverrides: {a.b: {initial_phase: a}}\n" + aPhase + "---\n"},
	{"an override that is a word", "---\noverrides: {a.b: a}\n" + aPhase + "---\n", "2:18 write it like this: {initial_phase: planning}", only("")},

	// Values.
	{"yes", only(", interactive_checkpoint: yes"), "3:59 write true, without quotes", only(", interactive_checkpoint: true")},
	{"Off", only(", interactive_checkpoint: Off"), "3:59 write false, without quotes", only(", interactive_checkpoint: false")},
	{"a checkpoint that is a word", only(", interactive_checkpoint: maybe"), "3:59 write it like this: interactive_checkpoint: true", only(", interactive_checkpoint: true")},
	{"subagents without a value", "---\nphases:\n  - name: a\n    agent: b\n    subagents:\n---\n", "5:15 write it like this: subagents: [{name: code-reviewer, agent: agents/code-reviewer.md}]; or leave the key out", only("")},
	{"a tool without a name", only(", tools: [null]"), "3:43 write it like this: read", only(", tools: [read]")},
	{"a name that is a number", "---\nphases: [{name: 1, agent: b}]\n---\n", `2:17 quote it: "1"`, "---\nphases: [{name: \"1\", agent: b}]\n---\n"},
	{"an agent that is none", "---\nphases: [{name: a, agent: true}]\n---\n", "2:27 write it like this: agent: agents/planner.md", only("")},
	{"codin", only(", tier: codin"), `3:41 did you mean "coding"? There are planning, coding and mini; a model by name stands under model`, only(", tier: coding")},
	{"large", only(", tier: large"), "3:41 write planning, coding or mini; a model by name stands under model", only(", model: large")},
}

// TestOddFrontMatter: each is told where it is and what to do, and who does that
// is told no more.
func TestOddFrontMatter(t *testing.T) {
	judge := func(file string) []string {
		w, problems := lane.ParseWorkflow("workflows/w/workflow.md", []byte(file), small.Limits{})
		if w != nil {
			problems = slices.Concat(problems, w.CheckPhases())
		}
		var out []string
		for _, p := range problems {
			out = append(out, fmt.Sprintf("%s %s", p.Pos, p.Hint))
		}
		return out
	}
	for _, c := range oddFrontMatter {
		if diff := cmp.Diff(c.want, strings.Join(judge(c.file), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if c.mended == "" {
			continue
		}
		if left := judge(c.mended); len(left) > 0 {
			t.Errorf("%s: after the advice was followed: %q", c.name, left)
		}
	}
}

// TestManyPhases: what a long file is told does not grow with its square.
func TestManyPhases(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\noverrides:\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "  t%d: {initial_phase: x%d}\n", i, i)
	}
	b.WriteString("phases:\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "  - {name: p%d, agent: a}\n", i)
	}
	w, problems := lane.ParseWorkflow("workflows/w/workflow.md", []byte(b.String()+"---\n"), small.Limits{})
	if w == nil {
		t.Fatal(problems)
	}
	problems = w.CheckPhases()
	if len(problems) != 1000 || len(w.Phases) != 10_000 {
		t.Errorf("%d problems, %d phases", len(problems), len(w.Phases))
	}
	for _, p := range problems {
		if len(p.Hint) > 200 || !strings.HasSuffix(p.Hint, "and 9988 more") {
			t.Fatalf("the advice is %q", p.Hint)
		}
	}
}
