package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/xeipuuv/gojsonschema"

	"github.com/small-gate/small-gate/internal/base/failure"
)

var update = flag.Bool("update", false, "rewrite the golden answers in testdata")

// recorded is the expected result for the events in testdata. Names with doc- are from the documentation, others from runs of the real
// program.
var recorded = map[string]Event{
	"claude/session-start":  {Moment: Start, Session: "53f9bbca-d7b5-4881-900a-1ee3e1a96187", Dir: "/repo"},
	"claude/session-resume": {Moment: Start, Session: "b1673f33-530d-478f-9f6e-cc171209a4c1", Dir: "/repo"},
	"claude/shell":          {Moment: Tool, Session: "53f9bbca-d7b5-4881-900a-1ee3e1a96187", Dir: "/repo"},
	"claude/write":          {Moment: Tool, Session: "53f9bbca-d7b5-4881-900a-1ee3e1a96187", Dir: "/repo", Files: []string{"/repo/w.txt"}},
	"claude/failure":        {Moment: Tool, Session: "53f9bbca-d7b5-4881-900a-1ee3e1a96187", Dir: "/repo"},
	"claude/agent":          {Moment: Tool, Session: "2b47a87d-0701-4a69-980b-224ea0567ac5", Dir: "/repo"},
	"claude/subagent-stop":  {Moment: Tool, Session: "2b47a87d-0701-4a69-980b-224ea0567ac5", Dir: "/repo"},
	"claude/stop":           {Moment: Stop, Session: "53f9bbca-d7b5-4881-900a-1ee3e1a96187", Dir: "/repo"},
	"claude/stop-again":     {Moment: Stop, Session: "cc17b7ea-e355-407c-8e0a-3c3e6965bdd1", Dir: "/repo", Continuing: true},
	"claude/session-end":    {Session: "53f9bbca-d7b5-4881-900a-1ee3e1a96187", Dir: "/repo"},
	"claude/doc-edit":       {Moment: Tool, Session: "abc123", Dir: "/repo", Files: []string{"/repo/.small/progress.small.yml"}},
	"claude/doc-notebook":   {Moment: Tool, Session: "abc123", Dir: "/repo", Files: []string{"/repo/a.ipynb"}},
	"claude/doc-read":       {Moment: Tool, Session: "abc123", Dir: "/repo", ReadOnly: true},
	"claude/doc-mcp":        {Moment: Tool, Session: "abc123", Dir: "/repo"},
	"claude/doc-tool-batch": {Session: "abc123", Dir: "/repo"},

	"codex/session-start":     {Moment: Start, Session: "01a20517-d2a2-7081-86fd-c1dd2ae7f197", Dir: "/repo"},
	"codex/shell":             {Moment: Tool, Session: "01a20517-d2a2-7081-86fd-c1dd2ae7f197", Dir: "/repo"},
	"codex/patch":             {Moment: Tool, Session: "01a2051b-9f73-7263-8e51-e6bccfce7923", Dir: "/repo", Files: []string{"a.txt"}},
	"codex/stop":              {Moment: Stop, Session: "01a20517-d2a2-7081-86fd-c1dd2ae7f197", Dir: "/repo"},
	"codex/stop-again":        {Moment: Stop, Session: "01a20517-d2a2-7081-86fd-c1dd2ae7f197", Dir: "/repo", Continuing: true},
	"codex/session-end":       {Session: "01a20517-d2a2-7081-86fd-c1dd2ae7f197", Dir: "/repo"},
	"codex/doc-mcp":           {Moment: Tool, Session: "s", Dir: "/repo"},
	"codex/doc-patch-moves":   {Moment: Tool, Session: "s", Dir: "/repo", Files: []string{"b.txt", "c d.txt", "e.txt", ".small/progress.small.yml"}},
	"codex/doc-subagent-stop": {Session: "s", Dir: "/repo"},

	"gemini/session-start":    {Moment: Start, Session: "ea95f55c-fb22-4b48-b61d-737c512a2a07", Dir: "/repo"},
	"gemini/shell":            {Moment: Tool, Session: "ea95f55c-fb22-4b48-b61d-737c512a2a07", Dir: "/repo"},
	"gemini/write":            {Moment: Tool, Session: "11475d61-59ca-46e2-ab35-252846128eeb", Dir: "/repo", Files: []string{"/repo/n.txt"}},
	"gemini/edit":             {Moment: Tool, Session: "11475d61-59ca-46e2-ab35-252846128eeb", Dir: "/repo", Files: []string{"/repo/n.txt"}},
	"gemini/stop":             {Moment: Stop, Session: "ea95f55c-fb22-4b48-b61d-737c512a2a07", Dir: "/repo"},
	"gemini/stop-again":       {Moment: Stop, Session: "ea95f55c-fb22-4b48-b61d-737c512a2a07", Dir: "/repo", Continuing: true},
	"gemini/session-end":      {Session: "ea95f55c-fb22-4b48-b61d-737c512a2a07", Dir: "/repo"},
	"gemini/doc-read":         {Moment: Tool, Session: "s", Dir: "/repo", ReadOnly: true},
	"gemini/doc-before-agent": {Session: "s", Dir: "/repo"},

	"cursor/session-start":    {Moment: Start, Session: "c1", Dir: "/repo"},
	"cursor/shell":            {Moment: Tool, Session: "c1", Dir: "/repo"},
	"cursor/file-edit":        {Session: "c1", Dir: "/repo"},
	"cursor/stop":             {Moment: Stop, Session: "c1", Dir: "/repo"},
	"cursor/stop-again":       {Moment: Stop, Session: "c1", Dir: "/repo", Continuing: true},
	"cursor/doc-write":        {Moment: Tool, Session: "c1", Dir: "/repo/sub", Files: []string{"/repo/a.ts"}},
	"cursor/doc-read":         {Moment: Tool, Session: "c1", Dir: "/repo", ReadOnly: true},
	"cursor/doc-failure":      {Moment: Tool, Session: "c1", Dir: "/repo"},
	"cursor/doc-stop-aborted": {Session: "c1", Dir: "/repo"},
	"cursor/doc-session-end":  {Session: "c1", Dir: "/repo"},

	"copilot/session-start":            {Moment: Start, Session: "54d8bbdd-e14f-4482-961e-69f660b56323", Dir: "/repo"},
	"copilot/shell":                    {Moment: Tool, Session: "54d8bbdd-e14f-4482-961e-69f660b56323", Dir: "/repo"},
	"copilot/failure":                  {Moment: Tool, Session: "54d8bbdd-e14f-4482-961e-69f660b56323", Dir: "/repo", Files: []string{"/repo/nope.txt"}},
	"copilot/agent":                    {Moment: Tool, Session: "d5214e1a-af09-44d4-837b-f0e77681dc20", Dir: "/repo"},
	"copilot/stop":                     {Moment: Stop, Session: "54d8bbdd-e14f-4482-961e-69f660b56323", Dir: "/repo"},
	"copilot/stop-again":               {Moment: Stop, Session: "248d3c37-85f9-4aca-85be-a295b64063cb", Dir: "/repo", Continuing: true},
	"copilot/stop-of-subagent":         {Session: "3e101eb4-caaa-407f-9655-eb658d7450d4", Dir: "/repo"},
	"copilot/session-end":              {Session: "54d8bbdd-e14f-4482-961e-69f660b56323", Dir: "/repo"},
	"copilot/camel-session-start":      {Moment: Start, Session: "d2d1e026-c156-41db-bf0d-e0e77f627874", Dir: "/repo"},
	"copilot/camel-shell":              {Moment: Tool, Session: "d2d1e026-c156-41db-bf0d-e0e77f627874", Dir: "/repo"},
	"copilot/camel-create":             {Moment: Tool, Session: "d2d1e026-c156-41db-bf0d-e0e77f627874", Dir: "/repo", Files: []string{"/repo/w.txt"}},
	"copilot/camel-failure":            {Moment: Tool, Dir: "/repo", Files: []string{"/repo/nope.txt"}},
	"copilot/camel-stop":               {Moment: Stop, Session: "d2d1e026-c156-41db-bf0d-e0e77f627874", Dir: "/repo"},
	"copilot/camel-stop-again":         {Moment: Stop, Dir: "/repo", Continuing: true},
	"copilot/camel-stop-of-subagent":   {Session: "22e93ebb-fdb9-41b9-bc5d-c3eba7c5624d", Dir: "/repo"},
	"copilot/camel-subagent-stop":      {Session: "7170506e-8daf-45fe-99a3-37d0e207e733", Dir: "/repo"},
	"copilot/camel-session-end":        {Session: "d2d1e026-c156-41db-bf0d-e0e77f627874", Dir: "/repo"},
	"copilot/doc-camel-prompt":         {Session: "s", Dir: "/repo"},
	"copilot/doc-camel-pre-tool":       {Session: "s", Dir: "/repo"},
	"copilot/doc-vscode-session-start": {Moment: Start, Session: "v1", Dir: "/repo"},
	"copilot/doc-vscode-tool":          {Moment: Tool, Session: "v1", Dir: "/repo"},
	"copilot/doc-vscode-stop":          {Moment: Stop, Session: "v1", Dir: "/repo", Continuing: true},
}

// events are the recorded events by harness and name.
func events(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/"), ".json")
		if strings.HasSuffix(name, ".schema") {
			continue
		}
		if out[name], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// harnessOf is the harness of a recorded event.
func harnessOf(t testing.TB, name string) *Harness {
	t.Helper()
	h, err := Of(strings.SplitN(name, "/", 2)[0])
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestRead(t *testing.T) {
	all := events(t)
	for name := range recorded {
		if all[name] == nil {
			t.Errorf("there is no testdata/%s.json", name)
		}
	}
	for name, data := range all {
		t.Run(name, func(t *testing.T) {
			h := harnessOf(t, name)
			want, known := recorded[name]
			if !known {
				t.Fatal("what has to be read of it is not in the table")
			}
			want.By = h
			for form, data := range map[string][]byte{
				"as it came":        data,
				"with a mark":       append([]byte("\ufeff"), data...),
				"CRLF":              append(bytes.TrimSpace(data), "\r\n"...),
				"unknown fields":    append([]byte(`{"x-new":{"y":[1]},"permission":7,`), bytes.TrimSpace(data)[1:]...),
				"without a newline": bytes.TrimSpace(data),
				"on several lines":  indented(t, data),
			} {
				got, err := h.Read(data)
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *Harness) bool { return a == b }), ignoreSession(want)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", form, diff)
				}
				if got.Session == "" {
					t.Errorf("%s: no session", form)
				}
			}
		})
	}
}

// ignoreSession ignores the session if the table does not name it.
func ignoreSession(want Event) cmp.Option {
	if want.Session == "" {
		return cmpopts.IgnoreFields(Event{}, "Session")
	}
	return cmp.Options{}
}

func indented(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "\t"); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Copilot and Cursor also run the hooks in Claude Code's settings, and must be answered in their own form.
func TestReadGuests(t *testing.T) {
	for name, data := range events(t) {
		h := harnessOf(t, name)
		if h != Copilot && h != Cursor || strings.Contains(name, "camel-") {
			continue
		}
		want, err := h.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Claude.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *Harness) bool { return a == b })); diff != "" {
			t.Errorf("%s as if of Claude Code (-want +got):\n%s", name, diff)
		}
	}
}

func TestReadErrors(t *testing.T) {
	for _, h := range All {
		for _, tt := range []struct{ name, data, want string }{
			{"nothing", "", "standard input is empty"},
			{"white space", " \r\n", "standard input is empty"},
			{"a mark alone", "\ufeff", "standard input is empty"},
			{"a word", "hello", "not a JSON object"},
			{"null", "null", "not a JSON object"},
			{"a list", "[]", "not a JSON object"},
			{"a text", `"x"`, "not a JSON object"},
			{"cut off", `{"hook_event_name": "St`, "not valid JSON, or is cut off"},
			{"two objects", `{"hook_event_name": "Stop"}{}`, "not valid JSON"},
			{"no name", `{}`, "does not say which event"},
			{"an empty name", `{"hook_event_name": ""}`, "does not say which event"},
			{"a name that is a number", `{"hook_event_name": 5}`, "a JSON number is in the field hook_event_name"},
			{"a session that is a list", `{"hook_event_name": "Stop", "session_id": []}`, "a JSON array is in the field session_id"},
			{"a directory that is an object", `{"hook_event_name": "Stop", "cwd": {"a": "\u001b[2J"}}`, "a JSON object is in the field cwd"},
			{"deep", `{"hook_event_name":` + strings.Repeat("[", 20_000), "not valid JSON"},
			{"an old Mac's", "\xfe\xff\x00{", "not a JSON object"},
		} {
			e, err := h.Read([]byte(tt.data))
			var trouble *failure.Error
			if e.By != h || !errors.As(err, &trouble) || !strings.Contains(trouble.Message, tt.want) || !strings.Contains(trouble.Message, h.Title) ||
				!strings.Contains(trouble.Remedy, "`small-hook install --agent "+h.Name+"`") {
				t.Errorf("%s, %s: event %+v, error %v, want %q", h.Name, tt.name, e, err, tt.want)
			}
		}
		e, err := h.Read([]byte(`{"hook_event_name": "SomethingNew", "session_id": "s", "cwd": "/repo"}`))
		if err != nil || e.Moment != Other || e.By != h {
			t.Errorf("%s: an unknown event is %+v, %v", h.Name, e, err)
		}
	}
	for field, data := range map[string]string{
		"workspace_roots":  `{"hook_event_name": "stop", "workspace_roots": "/repo"}`,
		"loop_count":       `{"hook_event_name": "stop", "loop_count": "2"}`,
		"stop_hook_active": `{"hook_event_name": "stop", "stop_hook_active": 1}`,
	} {
		if _, err := Cursor.Read([]byte(data)); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// A tool's input that is missing or undocumented says nothing about files: the tool may have written anything.
func TestReadFiles(t *testing.T) {
	for _, tt := range []struct {
		h    *Harness
		tool string
		data string
		want []string
	}{
		{Claude, "Write", `{"file_path": "a/b"}`, []string{"a/b"}},
		{Claude, "Write", `{"file_path": ""}`, nil},
		{Claude, "Write", `{"file_path": ["a"]}`, nil},
		{Claude, "Write", `{"path": "a"}`, nil},
		{Claude, "Write", `"a"`, nil},
		{Claude, "Write", `null`, nil},
		{Claude, "Bash", `{"file_path": "a"}`, nil},
		{Codex, "apply_patch", `{"command": "*** Begin Patch\r\n  *** Update File:  a b \r\n*** End Patch"}`, []string{"a b"}},
		{Codex, "apply_patch", `{"command": "echo"}`, nil},
		{Codex, "apply_patch", `{"command": ["apply_patch"]}`, nil},
		{Codex, "Bash", `{"command": "*** Update File: a"}`, nil},
	} {
		e, err := tt.h.Read([]byte(fmt.Sprintf(`{"hook_event_name": "PostToolUse", "tool_name": %q, "tool_input": %s}`, tt.tool, tt.data)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, e.Files); diff != "" || e.Moment != Tool || e.ReadOnly {
			t.Errorf("%s %s %s: %+v\n%s", tt.h.Name, tt.tool, tt.data, e, diff)
		}
	}
}

// A subagent's end is blocked only once: some harnesses would repeat it forever.
func TestReadProlongedSubagent(t *testing.T) {
	data := bytes.Replace(events(t)["claude/subagent-stop"], []byte(`"stop_hook_active":false`), []byte(`"stop_hook_active":true`), 1)
	if e, err := Claude.Read(data); err != nil || e.Moment != Other || !e.Continuing {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestOf(t *testing.T) {
	for _, h := range All {
		if got, err := Of(h.Name); err != nil || got != h || h.Title == "" {
			t.Errorf("%s: %v, %v", h.Name, got, err)
		}
	}
	_, err := Of("emacs`\x1b[2J")
	var trouble *failure.Error
	if !errors.As(err, &trouble) || strings.ContainsAny(err.Error(), "`\x1b") {
		t.Fatalf("%v", err)
	}
	for _, h := range All {
		if !strings.Contains(trouble.Remedy, h.Name) {
			t.Errorf("the remedy %q does not name %s", trouble.Remedy, h.Name)
		}
	}
}

var (
	moments = []struct {
		Moment
		name string
	}{{Start, "start"}, {Tool, "tool"}, {Stop, "stop"}, {Other, "other"}}
	replies = []struct {
		Reply
		name string
	}{{Silent, "silent"}, {Block, "block"}, {LetGo, "let go"}}
)

const text = "small-gate: \"2\" findings </system-reminder>\nfix: `small-hook restore` & Grüße\n"

// TestAnswer compares every answer with its golden form, with the harness's schema, and with the rules for all answers.
func TestAnswer(t *testing.T) {
	for _, h := range All {
		t.Run(h.Name, func(t *testing.T) {
			var golden strings.Builder
			for _, m := range moments {
				schema := schemaOf(t, h, m.name)
				for _, r := range replies {
					for _, said := range []string{text, "", " \n", "\xff\x00", strings.Repeat("x", 9000)} {
						checkAnswer(t, h, r.Reply, schema, h.Answer(m.Moment, r.Reply, said))
					}
					a := h.Answer(m.Moment, r.Reply, text)
					fmt.Fprintf(&golden, "== %s, %s: status %d\n", m.name, r.name, a.Status)
					fmt.Fprintf(&golden, "%s%s", labelled("stdout", a.Stdout), labelled("stderr", a.Stderr))
				}
			}
			path := filepath.Join("testdata", h.Name, "answers.golden")
			if *update {
				if err := os.WriteFile(path, []byte(golden.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v (run the test with -update)", err)
			}
			if diff := cmp.Diff(string(want), golden.String()); diff != "" {
				t.Errorf("%s differs (-want +got); if that is meant, run the test with -update:\n%s", path, diff)
			}
		})
	}
}

func labelled(label string, out []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		b.WriteString(label + ": " + line)
	}
	return b.String()
}

func schemaOf(t *testing.T, h *Harness, moment string) *gojsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", h.Name, "answer.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schemas map[string]json.RawMessage
	if err := json.Unmarshal(data, &schemas); err != nil {
		t.Fatal(err)
	}
	schema, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(schemas[moment]))
	if err != nil {
		t.Fatal(err)
	}
	if result, err := schema.Validate(gojsonschema.NewStringLoader(`{"foo": 1}`)); err != nil || result.Valid() {
		t.Fatalf("the schema of %s at %s allows anything: %v", h.Name, moment, err)
	}
	return schema
}

func checkAnswer(t *testing.T, h *Harness, r Reply, schema *gojsonschema.Schema, a Answer) {
	t.Helper()
	out := string(a.Stdout)
	switch {
	case a.Status != 0 && a.Status != 2:
		t.Errorf("status %d", a.Status)
	case a.Status == 2 && strings.TrimSpace(string(a.Stderr)) == "":
		t.Error("status 2 without a reason")
	case r == Silent && (a.Status != 0 || len(a.Stdout)+len(a.Stderr) > 0):
		t.Errorf("silence is %+v", a)
	case r != Silent && len(a.Stdout)+len(a.Stderr) == 0:
		t.Error("nothing was written")
	case r == LetGo && a.Status != 0:
		t.Errorf("status %d lets nobody go", a.Status)
	case r == LetGo && (strings.Contains(out, "decision") || strings.Contains(out, "followup")):
		t.Errorf("%q blocks", out)
	}
	if out == "" {
		return
	}
	if strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, "\n") || strings.ContainsAny(out, "<>\x00") || !utf8.ValidString(out) {
		t.Errorf("not one line of plain JSON: %q", out)
	}
	result, err := schema.Validate(gojsonschema.NewStringLoader(out))
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range result.Errors() {
		t.Errorf("%s: %s: %s", h.Name, fault, out)
	}
}

// Codex escapes ampersands at a turn's end.
func TestAnswerCodexAmpersands(t *testing.T) {
	const commands = "fix: `test -d a && cd a`, `a || b`, `c && d && e`, `(cd f && g)`; and so on & on\n"
	const want = "fix: `if test -d a; then cd a; else false; fi`, `a || b`, `if c; then if d; then e; else false; fi; else false; fi`, `(if cd f; then g; else false; fi)`; and so on & on\n"
	if got := string(Codex.Answer(Stop, Block, commands).Stderr); got != want {
		t.Errorf("at a turn's end: %q, want %q", got, want)
	}
	if got := string(Codex.Answer(Tool, Block, commands).Stderr); got != commands {
		t.Errorf("after a tool: %q", got)
	}
}

// For any input, there is an event or an error with a remedy.
func FuzzRead(f *testing.F) {
	for name, data := range events(f) {
		for i, h := range All {
			if strings.HasPrefix(name, h.Name+"/") {
				f.Add(i, data)
			}
		}
	}
	f.Add(0, []byte(`{"hook_event_name":"PostToolUse","tool_name":"Write","tool_input":`+strings.Repeat(`{"a":`, 500)))
	f.Fuzz(func(t *testing.T, which int, data []byte) {
		h := All[uint(which)%uint(len(All))]
		e, err := h.Read(data)
		var trouble *failure.Error
		if err != nil && (!errors.As(err, &trouble) || trouble.Message == "" || trouble.Remedy == "" || strings.ContainsAny(err.Error(), "\x1b\x00\u202e")) {
			t.Fatalf("an error without a way out, or that is not fit to print: %q", err)
		}
		if e.By == nil || e.Moment < Other || e.Moment > Stop || e.Moment != Tool && (e.ReadOnly || e.Files != nil) {
			t.Fatalf("%+v", e)
		}
	})
}

// BenchmarkRead reads events that contain a tool's output.
func BenchmarkRead(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20, 16 << 20} {
		output, err := json.Marshal(strings.Repeat("a line of what the tool has said\n", size/33))
		if err != nil {
			b.Fatal(err)
		}
		data := []byte(`{"session_id":"s","cwd":"/repo","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"x"},"tool_response":` + string(output) + `}`)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Claude.Read(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestSources: SOURCES.md has what the package relies on, for each harness and event.
func TestSources(t *testing.T) {
	data, err := os.ReadFile("SOURCES.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range All {
		_, section, found := strings.Cut(string(data), "\n## "+h.Title+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !found {
			t.Errorf("SOURCES.md has no section %q", h.Title)
		}
		names := make([]string, 0, len(h.moments)+len(h.writes))
		for name := range h.moments {
			names = append(names, name)
		}
		for name := range h.writes {
			names = append(names, name)
		}
		for _, name := range names {
			if !strings.Contains(section, "`"+name+"`") {
				t.Errorf("the section of %s does not name %s", h.Title, name)
			}
		}
	}
}
