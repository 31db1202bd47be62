package lane

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/small"
)

// TestAdviceKnowsTheSchema: the keys of which advice is given are those of the
// schema, and what is written as advised fits it.
func TestAdviceKnowsTheSchema(t *testing.T) {
	type node struct {
		Properties map[string]*node
		Items      *node
		Additional json.RawMessage `json:"additionalProperties"`
	}
	raw, err := schemaFiles.ReadFile("schema/workflow.json")
	if err != nil {
		t.Fatal(err)
	}
	var top, override node
	if err := json.Unmarshal(raw, &top); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(top.Properties["overrides"].Additional, &override); err != nil {
		t.Fatal(err)
	}
	phase := top.Properties["phases"].Items
	for _, c := range []struct {
		name   string
		known  place
		schema *node
	}{
		{"top", topKeys, &top}, {"phase", phaseKeys, phase},
		{"subagent", subagentKeys, phase.Properties["subagents"].Items}, {"override", overrideKeys, &override},
	} {
		if diff := cmp.Diff(slices.Sorted(maps.Keys(c.schema.Properties)), slices.Sorted(slices.Values(c.known.keys()))); diff != "" {
			t.Errorf("%s (-schema +advice):\n%s", c.name, diff)
		}
	}

	text := "---\n"
	for _, k := range topKeys {
		if k.key != "phases" {
			text += k.example + "\n"
		}
	}
	text += "phases:\n  -"
	for _, k := range phaseKeys {
		if k.key != "subagents" {
			text += " " + k.example + "\n   "
		}
	}
	text += " subagents:\n      -"
	for _, k := range subagentKeys {
		text += " " + k.example + "\n       "
	}
	w, problems := ParseWorkflow("workflows/w/workflow.md", []byte(text+"\n---\n"), small.Limits{})
	if w == nil || len(w.CheckPhases()) > 0 {
		t.Errorf("%s\n%v", text, problems)
	}
}
