package policy

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestSchemaKeywords fails on a keyword that the engine does not enforce, and
// on a mapping that takes unknown keys.
func TestSchemaKeywords(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(knownRules.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	if root["$schema"] != "http://json-schema.org/draft-07/schema#" {
		t.Errorf("$schema is %v", root["$schema"])
	}
	walkSchema(t, "", root)
}

func walkSchema(t *testing.T, at string, node map[string]any) {
	t.Helper()
	enforced := []string{
		"type", "enum", "required", "properties", "additionalProperties", "items",
		"minItems", "minimum", "maximum", "pattern",
	}
	words := []string{"$schema", "title", "description"}
	for key := range node {
		if !slices.Contains(enforced, key) && !slices.Contains(words, key) {
			t.Errorf("%s: the keyword %q is not one of those known to be enforced", at, key)
		}
	}
	if _, closed := node["additionalProperties"]; node["type"] == "object" && !closed {
		t.Errorf("%s: unknown keys are taken", at)
	}
	children := map[string]any{"[]": node["items"], "{}": node["additionalProperties"]}
	if properties, ok := node["properties"].(map[string]any); ok {
		for name, child := range properties {
			children[name] = child
		}
	}
	for name, child := range children {
		if m, ok := child.(map[string]any); ok {
			walkSchema(t, at+"/"+name, m)
		}
	}
}
