package small

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/xeipuuv/gojsonschema"
)

// libraries are the schemas as the library compiles them, by their text.
var libraries sync.Map

func library(t testing.TB, text []byte) *gojsonschema.Schema {
	t.Helper()
	if s, ok := libraries.Load(string(text)); ok {
		return s.(*gojsonschema.Schema)
	}
	s, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(text))
	if err != nil {
		t.Fatal(err)
	}
	libraries.Store(string(text), s)
	return s
}

// checkedByLibrary is CheckSchema for a document with few problems.
func checkedByLibrary(t testing.TB, a Artifact, doc *Document, extensions []string) []Problem {
	t.Helper()
	if !a.Canonical() {
		return nil
	}
	text, ours := artifactText(a), schemas[a]()
	if a == Progress && len(extensions) > 0 {
		text, ours = extendedText(), extended()
	}
	return append(ours.byLibrary(t, text, doc), ambiguous(a, doc.Root)...)
}

// byLibrary is Check.
func (s *Schema) byLibrary(t testing.TB, text []byte, doc *Document) []Problem {
	t.Helper()
	result, err := library(t, text).Validate(gojsonschema.NewRawLoader(plain(doc.Root)))
	if err != nil {
		t.Fatal(err)
	}
	var problems []Problem
	for _, e := range result.Errors() {
		const separator = "\x00/\x00"
		path := strings.Split(e.Context().String(separator), separator)[1:]
		at := doc.Root.At(path)
		p := s.problem(path, at, e)
		if i := slices.IndexFunc(at.Fields, func(f Field) bool { return f.Key == e.Details()["property"] }); e.Type() == "additional_property_not_allowed" && i >= 0 {
			p.Pos = at.Fields[i].KeyPos
		}
		problems = append(problems, p)
	}
	slices.SortStableFunc(problems, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.Pos.Line, y.Pos.Line), cmp.Compare(x.Pos.Column, y.Pos.Column))
	})
	return problems
}

// plain returns a value as the Go types that encoding/json uses. A scalar that JSON lacks, and a number too long to read, becomes
// the number 0; binary data, which YAML decodes to text, stays a string.
func plain(v *Value) any {
	switch v.Kind {
	case Null:
		return nil
	case Bool:
		return v.truth
	case Number:
		if d, ok := readDecimal(v); ok {
			return json.Number(d.String())
		}
	case String:
		return v.Text
	case List:
		out := make([]any, len(v.Items))
		for i, item := range v.Items {
			out[i] = plain(item)
		}
		return out
	case Map:
		out := make(map[string]any, len(v.Fields))
		for _, f := range v.Fields {
			out[f.Key] = plain(f.Value)
		}
		return out
	case Other:
		if v.Tag == binaryTag {
			return v.Text
		}
	}
	return json.Number("0")
}
