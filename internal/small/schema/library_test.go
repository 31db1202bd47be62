package schema

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/xeipuuv/gojsonschema"

	"github.com/small-gate/small-gate/internal/small"
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

// checkedByLibrary is CheckArtifact for a document with few problems.
func checkedByLibrary(t testing.TB, a small.Artifact, doc *small.Document, extensions []string) []small.Problem {
	t.Helper()
	if !a.Canonical() {
		return nil
	}
	text, ours := artifactText(a), schemas()[a]()
	if a == small.Progress && len(extensions) > 0 {
		text, ours = extendedText(), extended()
	}
	return append(ours.byLibrary(t, text, doc), findAmbiguous(a, doc.Root)...)
}

// byLibrary is Check.
func (s *Schema) byLibrary(t testing.TB, text []byte, doc *small.Document) []small.Problem {
	t.Helper()
	result, err := library(t, text).Validate(gojsonschema.NewRawLoader(plain(doc.Root)))
	if err != nil {
		t.Fatal(err)
	}
	var problems []small.Problem
	for _, e := range result.Errors() {
		const separator = "\x00/\x00"
		path := strings.Split(e.Context().String(separator), separator)[1:]
		at := doc.Root.At(path)
		p := s.problem(path, at, e)
		if i := slices.IndexFunc(at.Fields, func(f small.Field) bool { return f.Key == e.Details()["property"] }); e.Type() == "additional_property_not_allowed" && i >= 0 {
			p.Pos = at.Fields[i].KeyPos
		}
		problems = append(problems, p)
	}
	slices.SortStableFunc(problems, func(x, y small.Problem) int {
		return cmp.Or(cmp.Compare(x.Pos.Line, y.Pos.Line), cmp.Compare(x.Pos.Column, y.Pos.Column))
	})
	return problems
}

// plain returns a value as the Go types that encoding/json uses. A scalar that JSON lacks becomes a fraction, and a number too long
// to read becomes 0; binary data, which YAML decodes to text, stays a string.
func plain(v *small.Value) any {
	switch v.Kind {
	case small.Null:
		return nil
	case small.Bool:
		return v.IsTrue()
	case small.Number:
		return json.Number(v.Number())
	case small.String:
		return v.Text
	case small.List:
		out := make([]any, len(v.Items))
		for i, item := range v.Items {
			out[i] = plain(item)
		}
		return out
	case small.Map:
		out := make(map[string]any, len(v.Fields))
		for _, f := range v.Fields {
			out[f.Key] = plain(f.Value)
		}
		return out
	case small.Other:
		if v.Tag == small.BinaryTag {
			return v.Text
		}
	}
	return json.Number("0.5")
}
