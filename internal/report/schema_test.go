package report

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xeipuuv/gojsonschema"

	"github.com/small-gate/small-gate/internal/gate/finding"
	lanes "github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

//go:generate go test -count=1 -run ^TestReportSchema$ . -update

// reportSchema is the JSON report's schema for programs, made from the Go types of the report.
const (
	reportSchema  = "../../schema/report-v1.json"
	reportAddress = "https://raw.githubusercontent.com/small-gate/small-gate/main/schema/report-v1.json"
	// lookSchemaFile is the schema of log's JSON.
	lookSchemaFile = "../../schema/log-v1.json"
	lookAddress    = "https://raw.githubusercontent.com/small-gate/small-gate/main/schema/log-v1.json"
)

// TestReportSchema demands that the published schemas match the types. They allow keys that a later version adds.
func TestReportSchema(t *testing.T) {
	for file, schema := range map[string]any{reportSchema: schemaOfReports(t, true), lookSchemaFile: schemaOfLooks(t, true)} {
		want, err := json.MarshalIndent(schema, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(file, append(want, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(have), string(want)+"\n"); diff != "" {
			t.Errorf("%s is stale (-there +wanted): run go generate ./internal/report\n%s", file, diff)
		}
	}
}

// TestReportsFitTheSchema checks every kind of report with the schema, and with a stricter one that forbids unknown keys.
func TestReportsFitTheSchema(t *testing.T) {
	var docs []string
	for _, s := range reporttest.Samples() {
		if s.Name == "hostile" {
			continue // its rules have impossible stages and severities
		}
		docs = append(docs, render(t, "json", s.Report, Options{}))
	}
	docs = append(docs, render(t, "json", &finding.Report{}, Options{}))
	published, err := os.ReadFile(reportSchema)
	if err != nil {
		t.Fatal(err)
	}
	for name, loader := range map[string]gojsonschema.JSONLoader{
		"published": gojsonschema.NewBytesLoader(published), "strict": gojsonschema.NewGoLoader(schemaOfReports(t, false)),
	} {
		schema, err := gojsonschema.NewSchema(loader)
		if err != nil {
			t.Fatal(err)
		}
		fits := func(doc string) bool {
			result, err := schema.Validate(gojsonschema.NewStringLoader(doc))
			if err != nil {
				t.Fatal(err)
			}
			return result.Valid()
		}
		for _, doc := range docs {
			if !fits(doc) {
				t.Errorf("%s: does not fit:\n%s", name, doc)
			}
			for _, wrong := range []string{
				strings.Replace(doc, `"verdict": "`, `"verdict": "un`, 1), strings.Replace(doc, `"findings":`, `"finds":`, 1),
				strings.Replace(doc, `"commits": `, `"commits": -1`, 1),
			} {
				if fits(wrong) {
					t.Errorf("%s: fits, and should not:\n%s", name, wrong)
				}
			}
		}
	}
}

// words are the values of the enumeration types.
var words = map[reflect.Type][]string{
	reflect.TypeFor[finding.Verdict]():  {string(finding.Pass), string(finding.Fail), string(finding.Error)},
	reflect.TypeFor[finding.Severity](): {string(finding.SeverityError), string(finding.SeverityWarning), string(finding.SeverityNote)},
	reflect.TypeFor[finding.Stage](): {
		string(finding.StageValidate), string(finding.StageLint), string(finding.StageVerify), string(finding.StageHistory), string(finding.StagePolicy),
	},
	reflect.TypeFor[lanes.Lane](): {string(lanes.Fast), string(lanes.Standard), string(lanes.Deep)},
}

// schemaOfReports is the JSON report's schema (draft-07). An open one allows unknown keys.
func schemaOfReports(t *testing.T, open bool) map[string]any {
	g := schemaWriter{open: open, comments: fieldComments(t, "json.go", "lane.go"), definitions: map[string]any{}}
	return g.document(reflect.TypeFor[jsonReport](), jsonSchema, reportAddress, "A report of small-gate",
		"What small-hook and small-action write with --format json. Keys are added, never removed or renamed.")
}

// schemaOfLooks is the schema of log's JSON.
func schemaOfLooks(t *testing.T, open bool) map[string]any {
	g := schemaWriter{open: open, comments: fieldComments(t, "json.go", "look.go"), definitions: map[string]any{}}
	return g.document(reflect.TypeFor[jsonLook](), lookSchema, lookAddress, "Entries of logs",
		"What small-hook log writes with --format json. Keys are added, never removed or renamed.")
}

func (g *schemaWriter) document(typ reflect.Type, name, address, title, description string) map[string]any {
	root := g.object(typ)
	root["$schema"], root["$id"] = "http://json-schema.org/draft-07/schema#", address
	root["title"], root["description"] = title, description
	root["properties"].(map[string]any)["schema"] = map[string]any{"const": name}
	root["definitions"] = g.definitions
	return root
}

type schemaWriter struct {
	open        bool
	comments    map[string]string // by "type.Field"
	definitions map[string]any
}

func (g *schemaWriter) value(typ reflect.Type) map[string]any {
	if list := words[typ]; list != nil {
		return map[string]any{"enum": list}
	}
	if typ == reflect.TypeFor[json.RawMessage]() {
		return map[string]any{} // an entry: its form depends on the log
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{g.value(typ.Elem()), map[string]any{"type": "null"}}}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": g.value(typ.Elem())}
	case reflect.Struct:
		name := strings.ToLower(strings.TrimPrefix(typ.Name(), "json"))
		if g.definitions[name] == nil {
			g.definitions[name] = true // it may refer to itself
			g.definitions[name] = g.object(typ)
		}
		return map[string]any{"$ref": "#/definitions/" + name}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.String:
		return map[string]any{"type": "string"}
	default:
		panic("a report holds a " + typ.String())
	}
}

func (g *schemaWriter) object(typ reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, field := range reflect.VisibleFields(typ) {
		tag := field.Tag.Get("json")
		if field.Anonymous || tag == "" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		value := g.value(field.Type)
		if options == "" {
			required = append(required, name)
		} else if field.Type.Kind() == reflect.Pointer {
			value = g.value(field.Type.Elem()) // omitted rather than null
		}
		if comment := g.comments[typ.Name()+"."+field.Name]; comment != "" {
			value = map[string]any{"description": comment, "allOf": []any{value}}
		}
		properties[name] = value
	}
	slices.Sort(required)
	out := map[string]any{"type": "object", "properties": properties, "required": required}
	if !g.open {
		out["additionalProperties"] = false
	}
	return out
}

// fieldComments are the comments on struct fields in some files, by "type.Field".
func fieldComments(t *testing.T, files ...string) map[string]string {
	out := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			typ, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if fields, ok := typ.Type.(*ast.StructType); ok {
				for _, f := range fields.Fields.List {
					if len(f.Names) > 0 {
						out[typ.Name.Name+"."+f.Names[0].Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
					}
				}
			}
			return false
		})
	}
	return out
}
