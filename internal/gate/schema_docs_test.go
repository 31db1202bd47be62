package gate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xeipuuv/gojsonschema"
	"golang.org/x/tools/txtar"
	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

//go:generate go test -count=1 -run ^TestConfigSchema$ . -update

// configSchema is the configuration's schema as editors get it: the one that the gate itself applies, with the rules
// filled in. `go generate ./internal/gate` writes it.
const configSchema = "../../schema/config-v1.json"

// TestConfigSchema demands that the published schema is the gate's own, with the rules that there are.
func TestConfigSchema(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(catalogue.Known().Schema(), &root); err != nil {
		t.Fatal(err)
	}
	levels := func(node map[string]any) map[string]any {
		each := map[string]any{}
		for _, r := range catalogue.All() {
			each[r.ID] = map[string]any{"description": r.Summary, "enum": node["additionalProperties"].(map[string]any)["enum"]}
		}
		return map[string]any{"type": "object", "additionalProperties": false, "properties": each}
	}
	properties := func(node any) map[string]any { return node.(map[string]any)["properties"].(map[string]any) }
	ref := func(name string) map[string]any { return map[string]any{"$ref": "#/definitions/" + name} }
	top := properties(root)
	lanes := properties(top["lanes"])
	root["$id"] = policy.SchemaAddress
	root["definitions"] = map[string]any{
		"levels": levels(top["rules"].(map[string]any)), "raised": levels(properties(lanes["fast"])["rules"].(map[string]any)),
	}
	top["rules"] = ref("levels")
	for _, lane := range []string{"fast", "standard", "deep"} {
		properties(lanes[lane])["rules"] = ref("raised")
	}
	properties(top["waivers"].(map[string]any)["items"])["rule"] = map[string]any{"enum": catalogue.IDs()}
	want, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(configSchema, append(want, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(readFile(t, configSchema), string(want)+"\n"); diff != "" {
		t.Errorf("%s is stale (-there +wanted): run go generate ./internal/gate\n%s", configSchema, diff)
	}
}

// onlyTheGate are the cases of internal/policy whose mistake no schema can express: one across several places, what a
// pattern or a day means, and what a decoder does not pass on.
var onlyTheGate = []string{
	"err_baseline_twice", "err_folder_patterns", "err_limits_fraction", "err_patterns", "err_second_document", "err_version_fraction",
	"err_waiver_folder", "err_waiver_log", "err_waiver_paths", "err_waiver_sides", "err_waiver_twice",
}

// TestConfigSchemaAgrees compares the published schema with the parser: an editor must not mark what the gate reads, and
// must mark what the gate refuses, except for what only the gate can know.
func TestConfigSchemaAgrees(t *testing.T) {
	schema, err := gojsonschema.NewSchema(gojsonschema.NewStringLoader(readFile(t, configSchema)))
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("../policy/testdata/*/*.txtar")
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d cases (%v)", len(paths), err)
	}
	var differ []string
	variants := 0
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := archive.Files[0].Data
		gate, editor := gateTakes(text), editorTakes(t, schema, text)
		if editor && !gate {
			differ = append(differ, strings.TrimSuffix(filepath.Base(path), ".txtar"))
		}
		if gate && !editor {
			t.Errorf("%s: the schema refuses what the gate reads", path)
		}
		for _, variant := range configVariants(t, text, gittest.Cases(10, 1)) {
			variants++
			if gateTakes(variant) && !editorTakes(t, schema, variant) {
				t.Errorf("%s: the schema refuses what the gate reads:\n%s", path, variant)
			}
		}
	}
	if diff := cmp.Diff(onlyTheGate, differ); diff != "" {
		t.Errorf("cases that only the gate refuses (-known +found):\n%s", diff)
	}
	if variants < 500 {
		t.Errorf("only %d variants", variants)
	}
}

func gateTakes(text []byte) bool {
	_, err := policy.Parse("HEAD", text, catalogue.Known())
	return err == nil
}

// editorTakes reads YAML as editors do (a day is text) and applies the schema. They also refuse what is not YAML.
func editorTakes(t *testing.T, schema *gojsonschema.Schema, text []byte) bool {
	t.Helper()
	var doc yaml.Node
	var value any
	if yaml.Unmarshal(text, &doc) != nil {
		return false
	}
	daysAreText(&doc)
	if doc.Decode(&value) != nil {
		return false
	}
	data, err := json.Marshal(value)
	if err != nil {
		return false // keys that are not text
	}
	result, err := schema.Validate(gojsonschema.NewBytesLoader(data))
	if err != nil {
		t.Fatal(err)
	}
	return result.Valid()
}

func daysAreText(n *yaml.Node) {
	if n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, child := range n.Content {
		daysAreText(child)
	}
}

// configVariants puts some values in the place of each key and value, one at a time, and returns every step-th text.
func configVariants(t *testing.T, text []byte, step int) (out [][]byte) {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil {
		return nil
	}
	var all func(n *yaml.Node) []*yaml.Node
	all = func(n *yaml.Node) (nodes []*yaml.Node) {
		for _, c := range n.Content {
			nodes = append(append(nodes, c), all(c)...)
		}
		return nodes
	}
	made := 0
	for _, n := range all(&doc) {
		if n.Kind == yaml.AliasNode || n.Anchor != "" {
			continue
		}
		kept := *n
		for _, other := range []string{
			"1", "text", "true", "off", "[]", "{}", "null", "[text]",
			"{path: text}", "append-only/modified", "lint/blank", "2026-12-31", "0.5",
		} {
			if made++; made%step != 0 {
				continue
			}
			var value yaml.Node
			if err := yaml.Unmarshal([]byte(other), &value); err != nil {
				t.Fatal(err)
			}
			*n = *value.Content[0]
			if variant, err := yaml.Marshal(&doc); err == nil {
				out = append(out, variant)
			}
		}
		*n = kept
	}
	return out
}

// TestConfigSchemaRefuses marks what people mistype most.
func TestConfigSchemaRefuses(t *testing.T) {
	schema, err := gojsonschema.NewSchema(gojsonschema.NewStringLoader(readFile(t, configSchema)))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"version: 1\nstrickt: true\n", "version: 2\n", "strict: true\n", "version: 1\nrules: {lint/blnk: error}\n",
		"version: 1\nrules: {lint/blank: fatal}\n", "version: 1\nmode: observed\n", "version: 1\nlanes: {fast: {rules: {lint/blank: off}}}\n",
		"version: 1\nwaivers: [{rule: lint/blnk, path: .small/progress.small.yml, reason: b}]\n",
	} {
		if gateTakes([]byte(text)) || editorTakes(t, schema, []byte(text)) {
			t.Errorf("taken:\n%s", text)
		}
	}
	if text := "version: 1\nrules: {lint/blank: off}\n"; !gateTakes([]byte(text)) || !editorTakes(t, schema, []byte(text)) {
		t.Error("a right one is refused")
	}
}
