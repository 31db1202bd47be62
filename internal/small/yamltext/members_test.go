package yamltext_test

import (
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/yamltext"
)

// Each row is a text, and the result; an error's text begins with "error: ".
func TestSetMembers(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "a: 1\nrun:\n    id: abc\n    x: y\n", "a: 1\nrun:\n    id: \"new\"\n    x: y\n"},
		{"same", "run:\n  id: new # kept\n", "run:\n  id: new # kept\n"},
		{"quoted, with remarks", "# one\nrun: # two\n  id: 'abc' # three\n", "# one\nrun: # two\n  id: \"new\" # three\n"},
		{"number", "run:\n  id: 12\n", "run:\n  id: \"new\"\n"},
		{"braces", "run: {x: 1, id: abc}\n", "run: {x: 1, id: \"new\"}\n"},
		{"no mapping", "a: 1\n", "a: 1\nrun:\n    id: \"new\"\n"},
		{"no last line end", "a: 1", "a: 1\nrun:\n    id: \"new\"\n"},
		{"carriage returns", "a: 1\r\nb: 2\r\n", "a: 1\r\nb: 2\r\nrun:\r\n    id: \"new\"\r\n"},
		{"document end", "a: 1\n...\n", "a: 1\nrun:\n    id: \"new\"\n...\n"},
		{"blanks in braces", "run: { }\na: 1\n", "run: {id: \"new\"}\na: 1\n"},
		{"member without a value", "run:\n  id: # two\n  x: y\n", "run:\n  id: \"new\" # two\n  x: y\n"},
		{"member without a value at the end", "run:\n  id:", "run:\n  id: \"new\""},
		{"member without a colon", "run: {id}\n", "error: the value of \"id\" has"},
		{"member is a mapping", "run:\n  id: {x: y}\n", "error: \"id\" is a mapping; a single value is expected"},
		{"null", "run: null\na: 1\n", "run: {id: \"new\"}\na: 1\n"},
		{"tilde", "run: ~\na: 1\n", "run: {id: \"new\"}\na: 1\n"},
		{"empty", "run:\na: 1\n", "run:\n    id: \"new\"\na: 1\n"},
		{"empty braces", "run: {}\na: 1\n", "run: {id: \"new\"}\na: 1\n"},
		{"missing", "run:\n  x: y\na: 1\n", "run:\n  id: \"new\"\n  x: y\na: 1\n"},
		{"missing in braces", "run: {x: y}\n", "error: \"run\" is a mapping in braces"},
		{"a comment after lines", "run:\n  id: |\n      text\n    # ask\n  x: y\n", "run:\n  id: \"new\"\n    # ask\n  x: y\n"},
		{"a line like a comment", "run:\n  id: |2-\n      text\n    # ask\n  x: y\n", "run:\n  id: \"new\"\n  x: y\n"},
		{"all in braces", "{a: 1}\n", "error: the file is one mapping in braces"},
		{"all in braces, with a tag", "!!map {}\n", "error: the file is one empty mapping"},
		{"all in braces, with an anchor", "&a {}\n", "error: the file is one empty mapping"},
		{"text", "run: some\n", "error: \"run\" is a string; a mapping is expected"},
		{"anchor", "run:\n  id: &a abc\nb: *a\n", "error: the value of \"id\" has an anchor"},
		{"unreadable", "run: [\n", "error: line "},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := yamltext.SetMembers([]byte(c.text), "run", []yamltext.Member{{Key: "id", Value: "new"}}, small.Limits{})
			wantEdited(t, out, err, c.want)
		})
	}
}

// Each row is a text whose second item gets the member id, and the result; an error's text begins with "error: ".
func TestSetItems(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"there", "list:\n- {a: 1}\n- {a: 2, id: old} # two\n", "list:\n- {a: 1}\n- {a: 2, id: \"new\"} # two\n"},
		{"missing", "list:\n- a: 1\n- a: 2 # two\n  # three\n  b: 3\n", "list:\n- a: 1\n- a: 2 # two\n  id: \"new\"\n  # three\n  b: 3\n"},
		{"missing in braces", "list: [{a: 1}, {a: 2, b: 3}]\n", "list: [{a: 1}, {a: 2, id: \"new\", b: 3}]\n"},
		{"braces over lines", "list:\n- {a: 1}\n- {\n  a: 2,\n  b: 3}\n", "list:\n- {a: 1}\n- {\n  a: 2,\n  id: \"new\", b: 3}\n"},
		{"no member to follow", "list:\n- a: 1\n- a: 2\n", "error: the item has fewer than two members"},
		{"first value over lines", "list:\n- a: 1\n- a: two\n    three\n  b: 3\n", "error: the text there cannot be changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := yamltext.SetItems([]byte(c.text), "list", map[int][]yamltext.Member{1: {{Key: "id", Value: `"new"`}}}, small.Limits{})
			wantEdited(t, out, err, c.want)
		})
	}
}

// wantEdited compares the result of an edit with the text, or the beginning of the error's text, that is wanted.
func wantEdited(t *testing.T, out []byte, err error, want string) {
	t.Helper()
	if words, wrong := strings.CutPrefix(want, "error: "); wrong {
		if err == nil || !strings.HasPrefix(err.Error(), words) {
			t.Errorf("%q, %v; want the error %q", out, err, words)
		}
		return
	}
	if err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}
