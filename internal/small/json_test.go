package small

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/wording"
)

func TestParseJSON(t *testing.T) {
	const text = "{\n\t\"a\": [1, 2.5e1, true, null],\n\t\"ä\": {\"b\": \"\\ud83d\\ude00 \\/\"}\n}\n"
	doc, problems := ParseJSON([]byte(text), Limits{})
	if doc == nil {
		t.Fatal(problems)
	}
	if got, want := doc.Root.Canonical(), `{"a":[1,25,true,null],"ä":{"b":"😀 /"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	b := doc.Root.Get("ä").Fields[0]
	if got := []Pos{doc.Root.Pos, doc.Root.Fields[1].KeyPos, b.KeyPos, b.Value.Pos, doc.Root.Get("a").Items[3].Pos}; !cmp.Equal(got, []Pos{{1, 1}, {3, 2}, {3, 8}, {3, 13}, {2, 24}}) {
		t.Errorf("places %v", got)
	}
}

// TestParseJSONProblems: what is wrong, and where.
func TestParseJSONProblems(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "1:1 the file is empty; a mapping is expected",
		"[]":                            "1:1 the document is a list; a mapping is expected",
		"{\"a\": 1,\n \"a\": 2}":        "2:2 duplicate key \"a\"; it is already on line 1",
		"{\"a\": 1}\n{}":                "2:1 text follows the JSON value; only one is allowed",
		"{\"a\": 1,\n \"b\" 2}":         "2:6 not JSON: invalid character '2' after object key",
		"{\"a\": [1, 2}":                "1:12 not JSON: invalid character '}' after array element",
		"{\"a\": 1":                     "1:8 not JSON: the text ends too early",
		"{},":                           "1:3 text follows the JSON value; only one is allowed",
		"{} \n:":                        "2:1 text follows the JSON value; only one is allowed",
		"{\"a\":\n<<<<<<< HEAD\n1}":     "2:1 the file contains a conflict marker (<<<<<<<)",
		"{\"a\": \"\xff\"}":             "1:8 the byte 0xff here is not valid UTF-8",
		strings.Repeat("{\"a\":", 1001): "1:5001 nested deeper than 1000 levels",
	} {
		doc, problems := ParseJSON([]byte(text), Limits{})
		if doc != nil || len(problems) != 1 {
			t.Errorf("%q: %v", wording.Clip(text), problems)
			continue
		}
		if got := problems[0].Pos.String() + " " + problems[0].Message; got != want {
			t.Errorf("%q: got %s, want %s", wording.Clip(text), got, want)
		}
	}
}

// FuzzParseJSON compares the reader with encoding/json: both accept the same
// texts, except those that are refused here (duplicate keys, depth), and read
// the same from them.
func FuzzParseJSON(f *testing.F) {
	for _, text := range []string{"{}", `{"a": [1, -0.5e-3, "x\u0000", {"b": null}], "c": true}`, "{\"a\":1,}", "[]", `{"\ud83d": 1}`, "\t{\n}\r\n", `{"a":1}x`, "{},"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, problems := ParseJSON(data, Limits{})
		if (doc == nil) != (len(problems) > 0) {
			t.Fatalf("document %v and problems %v", doc, problems)
		}
		checkProblems(t, data, problems)
		if doc == nil {
			return
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		var model map[string]any
		if err := dec.Decode(&model); err != nil {
			t.Fatalf("encoding/json does not read it: %v", err)
		}
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			t.Fatalf("encoding/json reads on: %v", err)
		}
		if diff := cmp.Diff(counted(model), countedValue(doc.Root)); diff != "" {
			t.Fatalf("(-encoding/json +here):\n%s", diff)
		}
	})
}

// counted is what a decoded text holds, without its numbers' forms.
func counted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, member := range v {
			out[key] = counted(member)
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, counted(item))
		}
		return out
	}
	return v
}

func countedValue(v *Value) any {
	switch v.Kind {
	case Map:
		out := map[string]any{}
		for _, f := range v.Fields {
			out[f.Key] = countedValue(f.Value)
		}
		return out
	case List:
		out := []any{}
		for _, item := range v.Items {
			out = append(out, countedValue(item))
		}
		return out
	case Number:
		return json.Number(v.Text)
	case Bool:
		return v.truth
	case String:
		return v.Text
	}
	return nil
}

// TestEmptyList: the problem of an empty file names the kind of root that is expected.
func TestEmptyList(t *testing.T) {
	for _, c := range []struct {
		isJSON bool
		path   string
		want   string
	}{
		{true, "", "the file is empty; a list is expected"},
		{false, "", "the file is empty; a list is expected"},
		{true, "entries", "the file is empty; a mapping is expected"},
		{false, "entries", "the file is empty; a mapping is expected"},
	} {
		_, problems := ParseItems(nil, c.isJSON, c.path, Limits{})
		if len(problems) != 1 || problems[0].Message != c.want {
			t.Errorf("JSON %v at %q: %v, want %q", c.isJSON, c.path, problems, c.want)
		}
	}
	if _, problems := ParseJSONValue(nil, Limits{}); len(problems) != 1 || problems[0].Message != "the file is empty; a JSON value is expected" {
		t.Errorf("any value: %v", problems)
	}
}
