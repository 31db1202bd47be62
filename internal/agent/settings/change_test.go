package settings

import (
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/agent/harness"
	"github.com/small-gate/small-gate/internal/base/failure"
)

// Every harness has a file, in the order of the harnesses.
func TestEveryHarness(t *testing.T) {
	t.Parallel()
	if len(All) != len(harness.All) {
		t.Fatalf("%d files for %d harnesses", len(All), len(harness.All))
	}
	for i, h := range harness.All {
		if f, err := Of(h.Name); err != nil || f != All[i] || f.Harness != h {
			t.Errorf("%s: %v (%v)", h.Name, f, err)
		}
	}
	if f, err := Of("emacs"); err == nil || f != nil {
		t.Error("a file for an unknown harness")
	}
}

// A hook of ours, with which the tests below begin.
const ours = `{"type":"command","command":"small-hook agent-hook --harness claude"}`

// with expands the tests' short forms of ours in braces: OURS and OLD.
func with(text string) []byte {
	old := strings.Replace(ours, "small-hook", "'/opt/old dir/small-hook'", 1)
	wrapped := strings.Replace(ours, "small-hook", "cd x && small-hook", 1)
	return []byte(strings.NewReplacer("OURS", ours, "OLD", old, "WRAPPED", wrapped).Replace(text))
}

func TestAdd(t *testing.T) {
	t.Parallel()
	rest := `"PostToolUse":[{"hooks":[OURS]}], "PostToolUseFailure":[{"hooks":[OURS]}], "Stop":[{"hooks":[OURS]}]`
	for name, test := range map[string]struct{ before, after string }{
		"another program is replaced in place": {
			`{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[OLD, {"x":1}]}], ` + rest + `}}`,
			`{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[OURS, {"x":1}]}], ` + rest + `}}`,
		},
		"a command around ours counts": {
			`{"hooks":{"SessionStart":[{"hooks":[WRAPPED]}], ` + rest + `}}`,
			`{"hooks":{"SessionStart":[{"hooks":[WRAPPED]}], ` + rest + `}}`,
		},
		"an event that is missing": {
			`{"hooks":{"SessionStart":[{"hooks":[{"command":"mine"}]}], ` + rest + `}}`,
			`{"hooks":{"SessionStart":[{"hooks":[{"command":"mine"}]}, { "hooks": [ { "type": "command", "command": "small-hook agent-hook --harness claude" } ] }], ` + rest + `}}`,
		},
		"a call at another event does not count": {
			`{"hooks":{"SessionEnd":[{"hooks":[OURS]}], "SessionStart":[{"hooks":[OURS]}], ` + rest + `}}`,
			`{"hooks":{"SessionEnd":[{"hooks":[OURS]}], "SessionStart":[{"hooks":[OURS]}], ` + rest + `}}`,
		},
	} {
		got, err := Claude.Add(with(test.before), Claude.Command("small-hook"))
		if want := string(with(test.after)); err != nil || string(got) != want {
			t.Errorf("%s: %s\nnot %s (%v)", name, got, want, err)
		}
	}
}

// Indentation, line ends and comments are in the file's style.
func TestAddKeepsStyle(t *testing.T) {
	t.Parallel()
	before := "\ufeff{\r\n\t// what we check\r\n\t\"hooks\": {\r\n\t\t\"AfterAgent\": [\r\n\t\t\t{ \"hooks\": [] } // ours\r\n\t\t]\r\n\t}\r\n}\r\n"
	after, err := Gemini.Add([]byte(before), Gemini.Command("small-hook"))
	if err != nil {
		t.Fatal(err)
	}
	call := "{\n\t\"hooks\": [\n\t\t{\n\t\t\t\"type\": \"command\",\n\t\t\t\"command\": \"small-hook agent-hook --harness gemini\"\n\t\t}\n\t]\n}"
	call = strings.ReplaceAll(call, "\n", "\r\n\t\t\t")
	want := "\ufeff{\r\n\t// what we check\r\n\t\"hooks\": {\r\n\t\t\"AfterAgent\": [\r\n\t\t\t{ \"hooks\": [] }, // ours\r\n\t\t\t" + call + "\r\n\t\t],\r\n" +
		"\t\t\"SessionStart\": [\r\n\t\t\t" + call + "\r\n\t\t],\r\n\t\t\"AfterTool\": [\r\n\t\t\t" + call + "\r\n\t\t]\r\n\t}\r\n}\r\n"
	if string(after) != want {
		t.Errorf("got\n%s\nnot\n%s", after, want)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after string
		gone          bool
	}{
		"others in a group of ours stay":    {`{"hooks":{"Stop":[{"hooks":[{"command":"mine"}, OURS]}]}}`, `{"hooks":{"Stop":[{"hooks":[{"command":"mine"}]}]}}`, false},
		"others behind ours stay":           {`{"hooks":{"Stop":[{"hooks":[OURS, {"command":"mine"}]}]}}`, `{"hooks":{"Stop":[{"hooks":[ {"command":"mine"}]}]}}`, false},
		"another program, and an old event": {`{"hooks":{"SessionEnd":[{"hooks":[OLD]}, 1]}}`, `{"hooks":{"SessionEnd":[ 1]}}`, false},
		"a command around ours stays":       {`{"hooks":{"Stop":[{"hooks":[WRAPPED]}]}}`, `{"hooks":{"Stop":[{"hooks":[WRAPPED]}]}}`, false},
		"formatted anew":                    {"{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          OURS\n        ]\n      }\n    ]\n  }\n}\n", "", true},
		"formatted anew, with more": {
			"{\n  \"model\": 1,\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          OURS\n        ]\n      }\n    ]\n  }\n}\n", "{\n  \"model\": 1\n}\n", false,
		},
		"two of ours":     {`{"hooks":{"Stop":[{"hooks":[OURS]}, {"hooks":[OURS, OLD]}]}}`, `{"hooks":{"Stop":[]}}`, false},
		"nothing of ours": {`{"hooks": {"Stop" :[ ] } }`, `{"hooks": {"Stop" :[ ] } }`, false},
		"hooks that are no object of arrays, as far as we do not care": {`{"hooks":{"enabled":true,"Stop":[7,null,{"hooks":"x","command":[]}]}}`, `{"hooks":{"enabled":true,"Stop":[7,null,{"hooks":"x","command":[]}]}}`, false},
	} {
		got, gone, err := Claude.Remove(with(test.before))
		if want := string(with(test.after)); err != nil || gone != test.gone || !gone && string(got) != want {
			t.Errorf("%s: %s (gone: %v)\nnot %s (%v)", name, got, gone, want, err)
		}
	}
}

// A user's comment keeps the list or object that contains it.
func TestRemoveKeepsComments(t *testing.T) {
	t.Parallel()
	text, err := Gemini.Add(nil, Gemini.Command("small-hook"))
	if err != nil {
		t.Fatal(err)
	}
	commented := strings.Replace(string(text), `"SessionStart"`, "// first thing\n    \"SessionStart\"", 1)
	left, gone, err := Gemini.Remove([]byte(commented))
	if err != nil || gone || !strings.Contains(string(left), "// first thing\n") || strings.Contains(string(left), "small-hook") {
		t.Errorf("left %q (gone: %v, %v)", left, gone, err)
	}
}

// A comment beside ours stays a comment, and does not swallow anything else.
func TestCommentsBesideOurs(t *testing.T) {
	t.Parallel()
	call := Gemini.Command("small-hook")
	entry := `{ "hooks": [ { "type": "command", "command": "` + call + `" } ] }`
	for before, after := range map[string]string{
		"{\"hooks\": {\"Stop\": [1,\n// c\nENTRY ]}}":                   "{\"hooks\": {\"Stop\": [1\n// c\n ]}}",
		"{\"hooks\": {\"Stop\": [1 /* c */, ENTRY]}}":                   `{"hooks": {"Stop": [1 /* c */]}}`,
		"{\"hooks\": {\"Stop\": [// c\nENTRY, 1]}}":                     "{\"hooks\": {\"Stop\": [// c\n 1]}}",
		`{"hooks": {"Stop": [{"bash": "CALL", "command": "/x/CALL"}]}}`: `{"hooks": {"Stop": []}}`,
	} {
		left, gone, err := Gemini.Remove([]byte(strings.NewReplacer("ENTRY", entry, "CALL", call).Replace(before)))
		if err != nil || gone || string(left) != after {
			t.Errorf("%q became %q (gone: %v, %v)", before, left, gone, err)
		}
	}
	before := "{\"hooks\": {\"AfterTool\": [1 // c\n]}}"
	with, err := Gemini.Add([]byte(before), call)
	if err != nil || !strings.HasPrefix(string(with), "{\"hooks\": {\"AfterTool\": [1, // c\n "+entry+"\n], ") {
		t.Errorf("%q became %q (%v)", before, with, err)
	}
}

// Text that the harness would not read is refused, with its line.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file       *File
		text, says string
	}{
		{Claude, "", "line 1: it is not JSON as Claude Code reads it: unexpected end"},
		{Claude, "{\n\n  \"a\": }", "line 3: it is not JSON"},
		{Claude, "{\n// c\n}", "line 2: it is not JSON as Claude Code reads it"},
		{Claude, "{\"a\": 1,}", "it is not JSON"},
		{Claude, "\n[]", "line 2: it is not a JSON object"},
		{Claude, "{\n\"hooks\": []}", `line 2: it has "hooks", which is not an object`},
		{Claude, "{\"hooks\": null}", `it has "hooks", which is not an object`},
		{Claude, "{\"hooks\": {\n\"Stop\": {}}}", `line 2: it has "Stop", which is not an array`},
		{Claude, "{\"hooks\": {},\n\"ho\\u006fks\": {}}", `line 2: it has a second "hooks"`},
		{Claude, "{\"\x1b[31m\": 1}", "not JSON"},
		{Gemini, "{\"a\": [1,]}", "not JSON as Gemini CLI reads it"},
		{Gemini, "{\"a\": 1 /*", "not JSON"},
		{Codex, "{\n\"version\": 1}", `line 2: it has "version", with which Codex drops the whole file`},
		{Codex, "{\"\\u202e\": 1}", `has "\u202e"`},
		{Cursor, "{}", `it has no "version": 1, without which Cursor drops the whole file`},
		{Cursor, "{\"version\": \"1\"}", "no \"version\": 1"},
		{Cursor, "{\"version\": 1, \"$schema\": \"https://example.com\"}", "not JSON as Cursor reads it"},
		{Gemini, strings.Repeat("[", 1<<20), "exceeded max depth"},
	} {
		for what, refuse := range map[string]func([]byte) error{
			"Add":    func(text []byte) error { _, err := test.file.Add(text, "x"); return err },
			"Remove": func(text []byte) error { _, _, err := test.file.Remove(text); return err },
			"Has":    func(text []byte) error { _, err := test.file.FindCalls(text); return err },
		} {
			err := refuse([]byte(test.text))
			if f := failure.Of(err); f == nil || !strings.HasPrefix(f.Message, test.file.Path+": ") || !strings.Contains(f.Message, test.says) ||
				f.Remedy != "Correct the file" || strings.ContainsAny(f.Message, "\x1b\u202e\n") {
				t.Errorf("%s %.60q: %v", what, test.text, err)
			}
		}
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file     *File
		text     string
		missing  []string
		commands int
		off      string
	}{
		{Claude, `{}`, Claude.events, 0, ""},
		{Claude, `{"hooks":{"Stop":[{"hooks":[OURS]}],"SessionEnd":[{"hooks":[OLD]}]},"disableAllHooks":false}`, Claude.events[:3], 2, ""},
		{Claude, `{"disableAllHooks":true,"hooks":{"Stop":[{"hooks":[WRAPPED]}]}}`, Claude.events[:3], 1, "/disableAllHooks: true"},
		{Gemini, `{"hooksConfig":{"enabled":false},"hooks":{"AfterTool":[{"hooks":[{"command":"small-hook agent-hook --harness claude"}]}]}}`, Gemini.events, 0, "/hooksConfig/enabled: false"},
		{Copilot, `{"hooks":{"Stop":[{"bash":"small-hook agent-hook --harness copilot"}]}}`, Copilot.events[:3], 1, ""},
	} {
		got, err := test.file.FindCalls(with(test.text))
		if err != nil || !slices.Equal(got.Missing, test.missing) || len(got.Commands) != test.commands || got.Off != test.off {
			t.Errorf("%s: %+v (%v)", test.text, got, err)
		}
	}
}
