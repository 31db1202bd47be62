package lane

import (
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/small"
)

// FuzzParseWorkflow demands of any bytes: no crash; a workflow or problems; every position within the file, and advice for each problem.
func FuzzParseWorkflow(f *testing.F) {
	for _, text := range []string{
		"", "---\n---\n", "---\nphases: [{name: planning, agent: agents/a.md}]\n---\nprose\n",
		"\ufeff---\r\nphases:\r\n  - name: coding\r\n    subagents: [{name: a, agent: b}, {name: a, agent: b}]\r\n--- \r\n",
		"---\na: &a [*a]\n---\n", "---\nphases: [{name: a}, {name: a}]\ninitial_phase: b\noverrides: {jira: {initial_phase: c}}\n---\n",
		"---\n? x\n: y\n---\n", "---\nphases: 1\n...\n---\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, problems, unknown := ParseWorkflow("a/workflows/job/workflow.md", data, small.Limits{})
		if (w == nil) != (len(problems) > 0) {
			t.Fatalf("workflow %v and problems %v", w, problems)
		}
		within(t, data, slices.Concat(problems, unknown))
		advised(t, slices.Concat(problems, unknown))
		if w == nil {
			return
		}
		if len(w.Phases) == 0 || w.Initial.Text == "" {
			t.Fatalf("a workflow without a phase to begin with: %+v", w)
		}
		within(t, data, w.CheckPhases())
		within(t, data, w.CheckShape())
		within(t, data, w.CheckCheckpoint())
		for _, problems := range [][]small.Problem{w.CheckPhases(), w.CheckShape(), w.CheckCheckpoint()} {
			advised(t, problems)
		}
		for _, a := range w.Agents([]string{"base"}) {
			within(t, data, []small.Problem{{Pos: a.Pos}})
			for _, at := range a.Paths {
				if at == "" || strings.HasPrefix(at, "/") || strings.HasPrefix(at, "../") {
					t.Fatalf("%q may lie at %q", a.Text, at)
				}
			}
		}
	})
}

// FuzzParseRecord demands the same of records, as JSON and as YAML.
func FuzzParseRecord(f *testing.F) {
	for _, text := range []string{
		"{}", "", "a: 1", `{"workflowPath": "w", "workflowPathHistory": [{"at": "2026-03-01T09:10:00Z", "from": "v", "to": "w", "fromPhase": "planning", "reason": "r", "by": "switch_workflow"}]}`,
		`{"workflowPathHistory": [1, {"at": 1}]}`, "\t{\"params\": {\"epicAllowed\": false}}",
		"campaignChildren: [{name: a, status: pending, dependsOn: [b]}, {name: b, status: complete, dependsOn: [a, a, c]}]",
		`{"campaignChildren": [{"name": "a", "status": "complete"}], "campaignChildren": []}`,
		`{"params": {"lane": ["deep"], "epicAllowed": "false"}}`, "params: []\nworkflowPathHistory: [{at: 2026-03-01}, {at: [1]}]",
		"campaignChildren: [{name: a, status: complete}, {name: a, status: failed}, {status: complete}, complete]",
		"campaignChildren: {}\nworkflowPathHistory: 1\nworkflowPath: []\nparams: x", "campaignChildren: [{name: 1, status: 2, jobId: 3, dependsOn: x}, {name: '', status: '', dependsOn: [4, '']}]",
		"workflowPathHistory: [1, {at: 2, from: 3, to: 4, fromPhase: 5, toPhase: 6, reason: 7, by: 8}, {}, {at: x, from: '', to: '', fromPhase: '', reason: '', by: x}]",
	} {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, isJSON bool) {
		name := "jobs/7.yml"
		if isJSON {
			name = "jobs/7.json"
		}
		r, problems := ParseRecord(name, data, small.Limits{})
		if (r == nil) != (len(problems) > 0) {
			t.Fatalf("record %v and problems %v", r, problems)
		}
		within(t, data, problems)
		if r == nil {
			return
		}
		for _, problems := range [][]small.Problem{r.CheckSwitches(func(name string) (string, *Workflow) { return name, nil }), r.CheckChildren()} {
			within(t, data, problems)
			for _, p := range problems {
				if p.Hint == "" || strings.HasSuffix(p.Hint, " ") {
					t.Fatalf("%q says to do %q", p.Message, p.Hint)
				}
			}
		}
		if n := r.Ledger().Len(); n != len(r.Switches) {
			t.Fatalf("%d entries of %d switches", n, len(r.Switches))
		}
		for _, name := range r.Workflows() {
			if at := r.Nearest(name, []string{"workflows/job/workflow.md"}); at != "" && at != "workflows/job/workflow.md" {
				t.Fatalf("%q is at %q", name, at)
			}
		}
	})
}

// advised fails if a problem has no advice.
func advised(t *testing.T, problems []small.Problem) {
	t.Helper()
	for _, p := range problems {
		if strings.TrimSpace(p.Hint) == "" || strings.HasSuffix(p.Hint, " ") {
			t.Fatalf("%s: %s: the advice is %q", p.Pos, p.Message, p.Hint)
		}
	}
}

// within fails if a problem's position is outside the file. The line after the last one counts as inside: a final line of three dashes is
// followed by nothing.
func within(t *testing.T, data []byte, problems []small.Problem) {
	t.Helper()
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(string(data))
	lines := 1 + strings.Count(text, "\n")
	for _, p := range problems {
		if p.Pos.Line < 0 || p.Pos.Line > lines+1 {
			t.Fatalf("line %d of %d: %s", p.Pos.Line, lines, p.Message)
		}
	}
}
