package lane

import (
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

//go:embed schema/*.json
var schemaFiles embed.FS

// TestSchemaKeywords fails for a keyword that the engine may not enforce, and for a mapping that does not say whether it allows further
// keys.
func TestSchemaKeywords(t *testing.T) {
	files, err := schemaFiles.ReadDir("schema")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		raw, err := schemaFiles.ReadFile("schema/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		var root map[string]any
		if err := json.Unmarshal(raw, &root); err != nil {
			t.Fatal(err)
		}
		if root["$schema"] != "http://json-schema.org/draft-07/schema#" {
			t.Errorf("%s: $schema is %v", f.Name(), root["$schema"])
		}
		walkSchema(t, f.Name(), root)
	}
	workflowSchema()
	switchesSchema()
	childrenSchema()
}

func walkSchema(t *testing.T, at string, node map[string]any) {
	t.Helper()
	known := []string{
		"type", "enum", "required", "properties", "additionalProperties", "items", "minItems", "pattern", "$schema", "title",
	}
	for key := range node {
		if !slices.Contains(known, key) {
			t.Errorf("%s: the keyword %q is not one of those known to be enforced", at, key)
		}
	}
	if _, said := node["additionalProperties"]; node["type"] == "object" && !said {
		t.Errorf("%s: it is not said whether further keys are taken", at)
	}
	children := map[string]any{"[]": node["items"], "{}": node["additionalProperties"]}
	if properties, ok := node["properties"].(map[string]any); ok {
		for name, child := range properties {
			children[name] = child
		}
	}
	for name, child := range children {
		if m, ok := child.(map[string]any); ok {
			if p := m["pattern"]; p != nil && p != `\S` {
				t.Errorf("%s/%s: no message says what the pattern %v asks for", at, name, p)
			}
			walkSchema(t, at+"/"+name, m)
		}
	}
}

// TestKeysAreTheSchemas: the known keys are those in the schema.
func TestKeysAreTheSchemas(t *testing.T) {
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
		known  []string
		schema *node
	}{
		{"top", topKeys, &top}, {"phase", phaseKeys, phase},
		{"subagent", subagentKeys, phase.Properties["subagents"].Items}, {"override", overrideKeys, &override},
	} {
		if diff := cmp.Diff(slices.Sorted(maps.Keys(c.schema.Properties)), slices.Sorted(slices.Values(c.known))); diff != "" {
			t.Errorf("%s (-schema +known):\n%s", c.name, diff)
		}
	}
}
