package lane

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// TestDocs reads every example of docs/workflows.md.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, block := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		kind, data := block[1], []byte(block[2])
		if strings.HasPrefix(block[2], "version:") {
			kind = "configuration"
		}
		seen[kind]++
		switch kind {
		case "markdown":
			w, problems, unknown := ParseWorkflow("harness/workflows/job-fast/workflow.md", data, small.Limits{})
			if w == nil || len(unknown) > 0 {
				t.Errorf("the workflow: %v %v", problems, unknown)
				continue
			}
			if problems := append(append(w.CheckPhases(), w.CheckShape()...), w.CheckCheckpoint()...); len(problems) > 0 {
				t.Errorf("the workflow: %v", problems)
			}
			if agents := w.Agents(nil); agents[0].Paths[0] != "harness/agents/planner.md" {
				t.Errorf("the planner is %q", agents[0].Paths)
			}
		case "configuration":
			if _, err := policy.Parse("the documentation", data, policy.NewKnown(nil, append(slices.Clone(Sections), Workflows))); err != nil {
				t.Error(err)
			}
		case "json", "yaml":
			r, problems := ParseRecord("jobs/7."+kind, data, small.Limits{})
			if r == nil {
				t.Errorf("the record: %v", problems)
				continue
			}
			there := func(name string) (string, *Workflow) { return name, nil }
			if problems := append(r.CheckSwitches(there), r.CheckChildren()...); len(problems) > 0 {
				t.Errorf("the record: %v", problems)
			}
		}
	}
	for _, kind := range []string{"markdown", "configuration", "json", "yaml"} {
		if seen[kind] == 0 {
			t.Errorf("no example in %s", kind)
		}
	}
}
