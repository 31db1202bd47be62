package lane

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestSchemaKeywords fails on a keyword that the engine is not known to enforce,
// and on a mapping that does not say whether it may have further keys.
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
			if m["pattern"] != nil && forms[name] == "" && name != "[]" {
				t.Errorf("%s/%s: nothing says what the pattern asks for", at, name)
			}
			walkSchema(t, at+"/"+name, m)
		}
	}
}
