package lane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// only is a front matter with one phase, followed by more of that phase.
func only(more string) string {
	return "---\nphases:\n  - {name: a, agent: agents/a.md" + more + "}\n---\n"
}

const (
	aPhase  = "phases: [{name: a, agent: agents/a.md}]\n"
	beginIt = "begin the file with a line ---"
	example = "a workflow is written like this: phases: ["
	keys    = "remove it; the keys here are "
)

// oddFrontMatter are files with an odd beginning. want is the position of each problem and the beginning of its advice.
var oddFrontMatter = []struct{ name, file, want string }{
	// Valid files.
	{"a byte order mark", "\ufeff---\n" + aPhase + "---\n", ""},
	{"CR LF", "---\r\n" + strings.ReplaceAll(aPhase, "\n", "\r\n") + "---\r\nprose\r\n", ""},
	{"white space after the dashes", "---  \n" + aPhase + "--- \t\n", ""},
	{"no line feed at the end", "---\n" + aPhase + "---", ""},
	{"anchors", "---\nphases:\n  - &p {name: a, agent: agents/a.md}\n  - {<<: *p, name: b}\n---\n", ""},
	{"dashes in a text", "---\ndescription: |\n  one\n  ---\n  two\n" + aPhase + "---\n", ""},
	{"prose that is no UTF-8", "---\n" + aPhase + "---\n\xff\xfe\n", ""},
	{"no overrides", "---\noverrides: {}\n" + aPhase + "---\n", ""},
	{"a checkpoint in capitals", only(", interactive_checkpoint: TRUE"), ""},
	{"no agent, and that is said", "---\nphases: [{name: a, agent: ~}]\n---\n", ""},

	// Not a front matter.
	{"nothing", "", "1:1 " + beginIt},
	{"a title first", "# Title\n" + only(""), "1:1 " + beginIt},
	{"a blank line first", "\n\n" + only(""), "1:1 " + beginIt},
	{"no end", "---\n" + aPhase, "1:1 put a line --- between the YAML and the prose"},
	{"a pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 3\n", "1:1 remove it from the LFS patterns in .gitattributes and commit the file itself"},

	// Invalid YAML, or the wrong kind of value.
	{"a tab", "---\nphases:\n\t- {name: a}\n---\n", "3:1 correct the file"},
	{"a key twice", "---\n" + aPhase + aPhase + "---\n", "3:1 correct the file"},
	{"a list", "---\n- planning\n---\n", "2:1 correct the file"},
	{"dots", "---\n" + aPhase + "...\n" + aPhase + "---\n", "4:1 correct the file"},

	// Phases.
	{"no phases", "---\nphases: []\n---\n", "2:9 " + example},
	{"phases as a mapping", "---\nphases:\n  a: {agent: agents/a.md}\n---\n", "3:3 " + example},
	{"a phase that is a word", "---\nphases: [a]\n---\n", "2:10 " + example},
	{"a blank name", "---\nphases: [{name: ' ', agent: a}]\n---\n", "2:17 " + example},
	{"a name that is a number", "---\nphases: [{name: 1, agent: b}]\n---\n", `2:17 quote it: "1"`},
	{"no agent", "---\nphases: [{name: a}]\n---\n", "2:17 name the agent's file (agent: agents/planner.md), or write agent: ~"},
	{"no such phase", "---\ninitial_phase: codin\nphases: [{name: coding, agent: a}, {name: b, agent: a}]\n---\n", "2:16 name one of the workflow's phases, such as coding"},
	{"a tier that is none", only(", tier: large"), "3:41 write planning, coding or mini"},

	// Keys that a workflow does not have.
	{"initial_phases", "---\ninitial_phases: a\n" + aPhase + "---\n", `2:1 did you mean "initial_phase"?`},
	{"phase", "---\nphase: []\n---\n", "2:1 " + example + "\n" + `2:1 did you mean "phases"?`},
	{"interactive-checkpoint", only(", interactive-checkpoint: true"), `3:35 did you mean "interactive_checkpoint"?`},
	{"a key that has its like already", only(", agents: x"), "3:35 " + keys + "name, agent,"},
	{"a key of nothing", "---\nzzz: x\n" + aPhase + "---\n", "2:1 " + keys + "display_name,"},
	{"a number as key", only(", 1: x"), "3:35 " + keys},
	{"a subagent's key", only(", subagents: [{name: x, agent: y, teir: mini}]"), `3:67 did you mean "tier"?`},
	{"an override's key", "---\noverrides: {a.b: {initial: a, initial_phase: a}}\n" + aPhase + "---\n", "2:19 " + keys + "initial_phase"},
}

// TestOddFrontMatter: each problem has a place, and says what to do.
func TestOddFrontMatter(t *testing.T) {
	for _, c := range oddFrontMatter {
		w, problems, unknown := lane.ParseWorkflow("workflows/w/workflow.md", []byte(c.file), small.Limits{})
		if w != nil {
			problems = w.CheckPhases()
		}
		var want []string
		if c.want != "" {
			want = strings.Split(c.want, "\n")
		}
		var got []string
		for i, p := range slices.Concat(problems, unknown) {
			line := fmt.Sprintf("%s %s", p.Pos, p.Hint)
			if i < len(want) && strings.HasPrefix(line, want[i]) {
				line = want[i]
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// waiting are workflows, and whether a person is asked after code is written.
var waiting = []struct {
	name, phases string
	asked        bool
}{
	{"nobody", "{name: planning}, {name: coding}, {name: review}", false},
	{"before the code alone", "{name: planning, interactive_checkpoint: true}, {name: coding}, {name: review}", false},
	{"with the code", "{name: coding, interactive_checkpoint: true}, {name: review}", true},
	{"after the code", "{name: coding}, {name: review}, {name: evaluation, interactive_checkpoint: true}", true},
	{"after code of another name", "{name: plan, interactive_checkpoint: true}, {name: build, tier: coding}", false},
	{"anywhere, without code", "{name: planning, interactive_checkpoint: true}, {name: tracking}", true},
	{"by a phase that a person does", "{name: coding}, {name: human-review, agent: ~}", true},
	{"by a status that says so", "{name: coding}, {name: gate, agent: ~, status: awaiting-approval}", true},
	{"by an agent's phase of that name", "{name: coding}, {name: human-review, agent: a.md}", false},
	{"by the harness", "{name: coding}, {name: merge, agent: ~}", false},
}

// TestCheckpoint: a workflow that merges asks a person when code is written, or later.
func TestCheckpoint(t *testing.T) {
	for _, c := range waiting {
		w, problems, _ := lane.ParseWorkflow("workflows/w/workflow.md", []byte("---\nkind: job\nphases: ["+c.phases+"]\n---\n"), small.Limits{})
		if w == nil {
			t.Fatal(problems)
		}
		if got := len(w.CheckCheckpoint()) == 0; got != c.asked {
			t.Errorf("%s: asked is %t", c.name, got)
		}
	}
}

// TestBegins: a job and a deep one begin with the specification, whatever their other phases; a fast one has none.
func TestBegins(t *testing.T) {
	const reviewed = "subagents: [{name: code-reviewer, agent: a}]"
	const standard = "phases: [{name: spec-writing}, {name: planning}, {name: coding, " + reviewed + "}, {name: review}, {name: evaluation}]"
	const deep = "phases: [{name: spec-writing}, {name: analysis}, {name: planning}, {name: coding, " + reviewed + "}, {name: review}, {name: qa}, {name: evaluation}]"
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"job", standard, 0},
		{"job", "initial_phase: spec-writing\n" + standard, 0},
		{"job", "initial_phase: planning\n" + standard, 1},
		{"job", "overrides: {jira: {initial_phase: planning}}\n" + standard, 0},
		{"Job", "initial_phase: planning\n" + standard, 1},
		{"job", strings.Replace(standard, "[", "[{name: intake}, ", 1), 0},
		{"job", "initial_phase: intake\n" + strings.Replace(standard, "[", "[{name: intake}, ", 1), 0},
		{"job-deep", deep, 0},
		{"job-deep", "initial_phase: analysis\n" + deep, 1},
		{"job-fast", "initial_phase: planning\nphases: [{name: planning}, {name: coding, " + reviewed + "}, {name: review-and-verify}]", 0},
		{"ship", "initial_phase: planning\n" + standard, 0},
	} {
		w, problems, _ := lane.ParseWorkflow("workflows/"+c.name+"/workflow.md", []byte("---\n"+c.text+"\n---\n"), small.Limits{})
		if w == nil {
			t.Fatal(problems)
		}
		if got := w.CheckShape(); len(got) != c.want {
			t.Errorf("%s, %s: %v", c.name, c.text, got)
		}
	}
}
