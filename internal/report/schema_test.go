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
	lanes "github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/report/reporttest"
)

//go:generate go test -count=1 -run ^TestReportSchema$ . -update

// reportSchema is the JSON report's schema for programs, made from the types that the report is written from.
const (
	reportSchema  = "../../schema/report-v1.json"
	reportAddress = "https://raw.githubusercontent.com/small-gate/small-gate/main/schema/report-v1.json"
)

// TestReportSchema demands that the published schema is what the types say. It leaves room for keys that a later
// version adds.
func TestReportSchema(t *testing.T) {
	want, err := json.MarshalIndent(schemaOfReports(t, true), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(reportSchema, append(want, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(reportSchema)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), string(want)+"\n"); diff != "" {
		t.Errorf("%s is stale (-there +wanted): run go generate ./internal/report\n%s", reportSchema, diff)
	}
}

// TestReportsFitTheSchema holds every kind of report to it, and to a stricter one without room for unknown keys.
func TestReportsFitTheSchema(t *testing.T) {
	var docs []string
	for _, s := range reporttest.Samples() {
		if s.Name == "hostile" {
			continue // its rules have stages and severities that no rule has
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

// words are the values of the types that are enumerations.
var words = map[reflect.Type][]string{
	reflect.TypeFor[finding.Verdict]():  {string(finding.Pass), string(finding.Fail), string(finding.Error)},
	reflect.TypeFor[finding.Severity](): {string(finding.SeverityError), string(finding.SeverityWarning)},
	reflect.TypeFor[finding.Stage](): {
		string(finding.StageValidate), string(finding.StageLint), string(finding.StageVerify), string(finding.StageHistory), string(finding.StagePolicy),
	},
	reflect.TypeFor[lanes.Lane](): {string(lanes.Fast), string(lanes.Standard), string(lanes.Deep)},
}

// schemaOfReports writes the schema (draft-07) of the JSON report. An open one takes unknown keys.
func schemaOfReports(t *testing.T, open bool) map[string]any {
	g := schemaWriter{open: open, comments: fieldComments(t, "json.go", "lane.go"), definitions: map[string]any{}}
	root := g.object(reflect.TypeFor[jsonReport]())
	root["$schema"], root["$id"] = "http://json-schema.org/draft-07/schema#", reportAddress
	root["title"] = "A report of small-gate"
	root["description"] = "What small-hook and small-action write with --format json. Keys are added, never removed or renamed."
	root["properties"].(map[string]any)["schema"] = map[string]any{"const": jsonSchema}
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
	switch typ.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{g.value(typ.Elem()), map[string]any{"type": "null"}}}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": g.value(typ.Elem())}
	case reflect.Struct:
		name := strings.ToLower(strings.TrimPrefix(typ.Name(), "json"))
		if g.definitions[name] == nil {
			g.definitions[name] = true // it may name itself
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
			value = g.value(field.Type.Elem()) // left out rather than null
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

// fieldComments are the comments on fields of the structs in some files, by "type.Field".
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
