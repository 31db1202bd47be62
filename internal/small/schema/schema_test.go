package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

// The shortest valid document of each canonical artifact.
var valid = map[small.Artifact]string{
	small.Intent:      "small_version: \"1.0.0\"\nowner: human\nintent: i\nscope: {include: [], exclude: []}\nsuccess_criteria: []\n",
	small.Constraints: "small_version: \"1.0.0\"\nowner: human\nconstraints:\n  - {id: a, rule: r, severity: warn}\n",
	small.Plan:        "small_version: \"1.0.0\"\nowner: agent\ntasks:\n  - {id: a, title: t}\n",
	small.Progress:    "small_version: \"1.0.0\"\nowner: agent\nentries: []\n",
	small.Handoff:     "small_version: \"1.0.0\"\nowner: agent\nsummary: s\nresume: {next_steps: []}\nlinks: []\nreplayId: {value: v, source: auto}\n",
}

// enforced are the keywords that the schemas may use, each with a schema and a
// document that it must reject.
var enforced = map[string][2]string{
	"type":                 {`{"properties": {"a": {"type": "string"}}}`, "a: 1"},
	"enum":                 {`{"properties": {"a": {"enum": ["x"]}}}`, "a: y"},
	"properties":           {`{"properties": {"a": {"type": "array"}}}`, "a: {}"},
	"required":             {`{"required": ["b"]}`, "a: 1"},
	"additionalProperties": {`{"properties": {"b": {}}, "additionalProperties": false}`, "a: 1"},
	"items":                {`{"properties": {"a": {"items": {"type": "string"}}}}`, "a: [x, 1]"},
	"minItems":             {`{"properties": {"a": {"minItems": 1}}}`, "a: []"},
	"minLength":            {`{"properties": {"a": {"minLength": 1}}}`, "a: ''"},
	"pattern":              {`{"properties": {"a": {"pattern": "^x$"}}}`, "a: y"},
}

// annotations say nothing about a document.
var annotations = []string{"$schema", "title", "description"}

func TestSchemaKeywords(t *testing.T) {
	for keyword, c := range enforced {
		schema, err := New([]byte(c[0]), nil)
		if err != nil {
			t.Fatal(err)
		}
		if problems := schema.Check(parsed(t, c[1])); len(problems) != 1 {
			t.Errorf("%s: %s gives %v", keyword, c[1], problems)
		}
	}
	files, err := schemaFiles.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(valid) {
		t.Errorf("%d schemas for %d canonical artifacts", len(files), len(valid))
	}
	for _, f := range files {
		raw, err := schemaFiles.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		var root map[string]any
		if err := json.Unmarshal(raw, &root); err != nil {
			t.Fatalf("%s: %v", f.Name(), err)
		}
		if root["$schema"] != "http://json-schema.org/draft-07/schema#" {
			t.Errorf("%s is not draft-07", f.Name())
		}
		walkSchema(t, strings.TrimSuffix(f.Name(), ".json"), root)
	}
}

// walkSchema demands that a schema uses only enforced keywords, names its
// types, and says for every mapping which keys there are and for every list what
// its items are.
func walkSchema(t *testing.T, path string, schema map[string]any) {
	for keyword := range schema {
		if _, ok := enforced[keyword]; !ok && !slices.Contains(annotations, keyword) {
			t.Errorf("%s uses %q, which is not enforced here", path, keyword)
		}
	}
	types := typesOf(schema["type"])
	if len(types) == 0 {
		t.Errorf("%s has no type", path)
	}
	members, hasMembers := schema["properties"].(map[string]any)
	items, hasItems := schema["items"].(map[string]any)
	// Free-form evidence is the only mapping that may be anything; a task may
	// have more keys than the protocol names.
	free := len(types) > 1 || path == "plan.tasks[]"
	if slices.Contains(types, "object") && !free && (!hasMembers || schema["additionalProperties"] != false) {
		t.Errorf("%s does not say which keys there are", path)
	}
	if slices.Contains(types, "array") != hasItems {
		t.Errorf("%s: a list has items, of one schema", path)
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		walkSchema(t, path+"."+key, members[key].(map[string]any))
	}
	if hasItems {
		walkSchema(t, path+"[]", items)
	}
	for _, key := range typesOf(schema["required"]) {
		if members[key] == nil {
			t.Errorf("%s requires %q without describing it", path, key)
		}
	}
}

func typesOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, item := range v {
			out = append(out, fmt.Sprint(item))
		}
		return out
	}
	return nil
}

// TestSchemaRefuses demands that a wrong schema does not compile, at any depth.
func TestSchemaRefuses(t *testing.T) {
	for _, text := range []string{
		`{"type": 1}`, `{"type": "text"}`, `{"properties": {"a": {"pattern": "("}}}`, `{"items": {"minimum": "x"}}`,
		`{"additionalProperties": {"minItems": -0.5}}`, `{"additionalProperties": 1}`, `[]`, ``,
	} {
		if _, err := New([]byte(text), nil); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// TestSchemaOther: a scalar that JSON lacks is no whole number.
func TestSchemaOther(t *testing.T) {
	schema, err := New([]byte(`{"type": "object", "properties": {"a": {"type": "integer", "minimum": 0}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{".inf", "-.inf", ".nan", "2026-01-02"} {
		problems := schema.Check(parsed(t, "a: "+text))
		if len(problems) != 1 || problems[0].Message != `"a" is a value JSON does not have; a whole number is expected` {
			t.Errorf("%s: %v", text, problems)
		}
	}
}

// TestSchemaByLibrary compares what a schema with every keyword finds with what a JSON Schema library finds.
func TestSchemaByLibrary(t *testing.T) {
	text := []byte(`{"type": "object", "required": ["a"], "properties": {
		"a": {"type": ["integer", "null"], "minimum": 1, "maximum": 1000000000}, "b": {"type": "number", "enum": [1, 2.5]},
		"c": {"type": "boolean"}, "d": {"enum": ["x", 1, true]}, "e": {"type": ["array", "null"], "minItems": 1, "items": {"type": "string", "pattern": "\\S"}},
		"f": {"type": "object", "additionalProperties": {"type": "string", "enum": ["error", "off"]}}, "g": {"minLength": 2, "minItems": 1, "pattern": "^[x1]"},
		"h": {"type": "array", "items": {"type": "object", "additionalProperties": false, "required": ["k"], "properties": {"k": {"additionalProperties": true}}}},
		"i": {"minimum": -5, "maximum": 5}}, "additionalProperties": {"type": "string"}}`)
	schema, err := New(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"1", "0", "-1", "1.0", "2.50", "2.6", "1000000001", "1e9", "0x10", "1e400", "9" + strings.Repeat("0", 900), ".inf", ".nan", "true", "~", "x", "''", "' '", "é", "1x", "[]", "[x]", "[1, ' ', x]", "{}", "{k: 1}", "{m: off}", "{m: x, 1: error}", "[{k: 1}, {m: 1}, x]", "!!binary eA==", "2026-01-01", "!x y"}
	var problems int
	for seed := range smalltest.Seeds {
		r := smalltest.Seeded(seed)
		var b strings.Builder
		keys := strings.Split("abcdefghij1", "")
		for _, i := range r.Perm(len(keys))[:1+r.IntN(5)] {
			b.WriteString(keys[i] + ": " + smalltest.Pick(r, words) + "\n")
		}
		doc := parsed(t, b.String())
		got := schema.Check(doc)
		problems += len(got)
		if diff := cmp.Diff(schema.byLibrary(t, text, doc), got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-library +ours):\n%s\n%s", diff, b.String())
		}
	}
	if problems < 10 {
		t.Errorf("only %d problems", problems)
	}
}

func TestSchemaAccepts(t *testing.T) {
	const entry = "small_version: '1.0.0'\nowner: agent\nentries:\n  - {task_id: a, "
	for text, a := range map[string]small.Artifact{
		valid[small.Intent]: small.Intent, valid[small.Constraints]: small.Constraints, valid[small.Plan]: small.Plan, valid[small.Progress]: small.Progress, valid[small.Handoff]: small.Handoff,
		"anything: 1": small.Workspace,
		valid[small.Plan] + "  - {id: b, title: t, status: done, lease: {agent_id: x}, depends_on: [a], steps: [s], acceptance: [], '1.0': ~}\n": small.Plan,
		entry + "evidence: {}, verification: {a: 1}, test: x}\n":                                                                                 small.Progress,
		entry + "commit: \"0123456\", link: '', notes: '', status: blocked}\n":                                                                   small.Progress,
		entry + "command: c, command_summary: c, command_ref: c, command_sha256: " + strings.Repeat("0a", 32) + "}\n":                            small.Progress,
		entry + "replayId: " + strings.Repeat("Fe", 32) + ", commit: " + strings.Repeat("a", 40) + "}\n":                                         small.Progress,
		entry + "evidence: !!str 12, notes: !note 12}\n":                                                                                         small.Progress,
		strings.Replace(valid[small.Handoff], "resume: {", "resume: {current_task_id: ~, ", 1) + "run: {}\n":                                     small.Handoff,
		strings.Replace(valid[small.Handoff], "links: []", "links: [{}, {url: u, description: d}]", 1) +
			"run: {created_at: c, transition_reason: self_heal, previous_replay_id: '" + strings.Repeat("0", 64) + "', previous_run_ref: r}\n": small.Handoff,
	} {
		if problems := CheckArtifact(a, parsed(t, text)); len(problems) > 0 {
			t.Errorf("%s: %v\n%s", a, problems, text)
		}
	}
}

// TestSchemaMessages is a list of mistakes and the messages about them. Text that
// is put between the marks of a valid document makes it wrong.
func TestSchemaMessages(t *testing.T) {
	const (
		plan     = "small_version: '1.0.0'\nowner: agent\ntasks:\n  - id: a\n    title: t\n"
		progress = "small_version: '1.0.0'\nowner: agent\nentries:\n  - task_id: a\n"
		handoff  = "small_version: '1.0.0'\nowner: agent\nsummary: s\nreplayId: {value: v, source: auto}\n"
		rest     = "resume: {next_steps: []}\nlinks: []\n"
	)
	for _, c := range []struct {
		a    small.Artifact
		text string
		want string
	}{
		{small.Intent, "{}", `
1:1 small_version the document lacks the key "small_version"
1:1 owner the document lacks the key "owner"
1:1 intent the document lacks the key "intent"
1:1 scope the document lacks the key "scope"
1:1 success_criteria the document lacks the key "success_criteria"`},
		{small.Intent, "small_version: 1.0\nowner: Human\nintent: 5\nscope: {include: x, exlude: [a]}\nsuccess_criteria: [~, [b], c]\nmore: 1\n", `
1:16 small_version "small_version" is 1.0 without quotes, which YAML reads as a number; a string is expected | quote it: "1.0"
2:8 owner "owner" is "Human"; expected "human"
3:9 intent "intent" is 5 without quotes, which YAML reads as a number; a string is expected | quote it: "5"
4:8 scope.exclude "scope" lacks the key "exclude"
4:18 scope.include "include" of "scope" is a string; a list is expected
4:21 scope.exlude unknown key "exlude" in "scope"
5:20 success_criteria.0 success criterion 1 has no value; a string is expected
5:23 success_criteria.1 success criterion 2 is a list; a string is expected
6:1 more unknown key "more" in the document`},
		{small.Constraints, "small_version: 1.0.1\nowner: human\nconstraints: []\n", `
1:16 small_version "small_version" is "1.0.1"; expected "1.0.0"
3:14 constraints "constraints" is empty; at least one item is expected`},
		{small.Constraints, "small_version: 1.0.0\nowner: human\nconstraints:\n  - text\n  - id: 12\n    rule: yes\n    severity: info\n  - {id: a, rule: 2026-01-01, severity: true, why: x}\n", `
4:5 constraints.0 constraint 1 is a string; a mapping is expected
5:9 constraints.1.id "id" of constraint 2 is 12 without quotes, which YAML reads as a number; a string is expected | quote it: "12"
7:15 constraints.1.severity "severity" of constraint 2 is "info"; expected "error" or "warn"
8:19 constraints.2.rule "rule" of constraint 3 is 2026-01-01 without quotes, which YAML reads as a date; a string is expected | quote it: "2026-01-01"
8:41 constraints.2.severity "severity" of constraint 3 is true without quotes, which YAML reads as a boolean; a string is expected | quote it: "true"
8:47 constraints.2.why unknown key "why" in constraint 3`},
		{small.Constraints, "small_version: '1.0.0'\nowner: human\nconstraints:\n", `
3:13 constraints "constraints" has no value; a list is expected`},
		{small.Plan, plan + "    steps: [1, x]\n    acceptance: done\n  - title: u\n", `
6:13 tasks.0.steps.0 step 1 is 1 without quotes, which YAML reads as a number; a string is expected | quote it: "1"
7:17 tasks.0.acceptance "acceptance" of task 1 is a string; a list is expected
8:5 tasks.1.id task 2 lacks the key "id"`},
		{small.Progress, progress + "    timestamp: 2026-01-02T03:04:05.6Z\n    commit: 1234567\n", `
5:16 entries.0.timestamp "timestamp" of entry 1 is 2026-01-02T03:04:05.6Z without quotes, which YAML reads as a date; a string is expected | quote it: "2026-01-02T03:04:05.6Z"
6:13 entries.0.commit "commit" of entry 1 is 1234567 without quotes, which YAML reads as a number; a string is expected | quote it: "1234567"`},
		{small.Progress, progress + "    timestamp: 2026-01-02 03:04:05\n    commit: 12345e7\n", `
5:16 entries.0.timestamp "timestamp" of entry 1 is 2026-01-02 03:04:05 without quotes, which YAML reads as a date; a string is expected | quote it: "2026-01-02 03:04:05"
6:13 entries.0.commit "commit" of entry 1 is 12345e7 without quotes, which YAML reads as a number; a string is expected | quote it: "12345e7"`},
		{small.Progress, progress + "    commit: 0123ABC\n    command_sha256: abc\n    replayId: xyz\n    status: done\n", `
5:13 entries.0.commit "commit" of entry 1 is "0123ABC"; expected 7 to 40 lower-case hex digits
6:21 entries.0.command_sha256 "command_sha256" of entry 1 is "abc"; expected 64 lower-case hex digits
7:15 entries.0.replayId "replayId" of entry 1 is "xyz"; expected 64 hex digits
8:13 entries.0.status "status" of entry 1 is "done"; expected "pending", "in_progress", "completed", "blocked" or "cancelled"`},
		{small.Progress, progress + "    evidence: ''\n    test: [a]\n    command:\n    notes: {a: 1}\n    agent_id: x\n", `
5:15 entries.0.evidence "evidence" of entry 1 is empty; fill it in or leave the key out
6:11 entries.0.test "test" of entry 1 is a list; a string or a mapping is expected
7:13 entries.0.command "command" of entry 1 has no value; a string is expected
8:12 entries.0.notes "notes" of entry 1 is a mapping; a string is expected
9:5 entries.0.agent_id unknown key "agent_id" in entry 1`},
		{small.Progress, progress + "    evidence: 5\n    link: .inf\n    verification: !!int '12'\n  - ~\n  - {}\n", `
5:15 entries.0.evidence "evidence" of entry 1 is 5 without quotes, which YAML reads as a number; a string or a mapping is expected | quote it: "5"
6:11 entries.0.link "link" of entry 1 is .inf without quotes, which YAML reads as a number; a string is expected | quote it: ".inf"
7:19 entries.0.verification "verification" of entry 1 is a number; a string or a mapping is expected
8:5 entries.1 entry 2 has no value; a mapping is expected
9:5 entries.2.task_id entry 3 lacks the key "task_id"`},
		{small.Progress, "small_version: '1.0.0'\nowner: agent\nentries: {a: 1}\n\"x\\ny\": 1\n", `
3:10 entries "entries" is a mapping; a list is expected
4:1 x
y unknown key "x\ny" in the document`},
		{small.Handoff, handoff + "links:\n  - {url: 1, text: x}\n  - https://example.org\nresume:\n  current_task_id: 7\n  next_steps:\n  - 1\n  later: x\n", `
6:11 links.0.url "url" of link 1 is 1 without quotes, which YAML reads as a number; a string is expected | quote it: "1"
6:14 links.0.text unknown key "text" in link 1
7:5 links.1 link 2 is a string; a mapping is expected
9:20 resume.current_task_id "current_task_id" of "resume" is 7 without quotes, which YAML reads as a number; a string or null is expected | quote it: "7"
11:5 resume.next_steps.0 next step 1 is 1 without quotes, which YAML reads as a number; a string is expected | quote it: "1"
12:3 resume.later unknown key "later" in "resume"`},
		{small.Handoff, handoff + rest + "run: {transition_reason: crash, previous_replay_id: '12', by: x}\n", `
7:26 run.transition_reason "transition_reason" of "run" is "crash"; expected "reset", "archive", "manual" or "self_heal"
7:53 run.previous_replay_id "previous_replay_id" of "run" is "12"; expected 64 hex digits
7:59 run.by unknown key "by" in "run"`},
		{small.Progress, progress + "    evidence: {0: 1, codes: {0: 1}}\n    notes: !!binary aGVsbG8=\n    test: {a: {\"<<\": {b: c}, !!binary YQ==: d}}\n", `
5:16 entries.0.evidence.0 the key "0" of "evidence" of entry 1 is no string | quote it: "0"
6:12 entries.0.notes "notes" of entry 1 is binary data, which some readers decode and some do not | write it as text
7:16 entries.0.test.a.<< the key "<<" of "a" of entry 1 is text here, and a merge key to other readers | give it another name
7:30 entries.0.test.a.YQ== a key of "a" of entry 1 is binary data, which some readers decode and some do not | write it as text`},
		{small.Plan, plan + "    0: x\n    more: {true: x}\n", `
6:5 tasks.0.0 the key "0" of task 1 is no string | quote it: "0"`},
		{small.Handoff, strings.Replace(handoff+rest, "{value: v, source: auto}", "abc", 1), `
4:11 replayId "replayId" is a string; a mapping is expected`},
	} {
		var got strings.Builder
		for _, p := range CheckArtifact(c.a, parsed(t, c.text)) {
			if p.Kind != small.ProblemSchema {
				t.Errorf("kind %s", p.Kind)
			}
			fmt.Fprintf(&got, "\n%s %s %s", p.Pos, p.Subject, p.Message)
			if p.Hint != "" {
				got.WriteString(" | " + p.Hint)
			}
		}
		if diff := cmp.Diff(c.want, got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", c.a, diff, c.text)
		}
	}
}

// A value is shown in no message if its name shows that it is a credential.
func TestSchemaMessagesMask(t *testing.T) {
	schema, err := New([]byte(`{"additionalProperties": {"enum": ["off"]}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	key := strings.Repeat("Ab3/", 3) + "5Fm21L4KltxIH4O2N7Brx1XuY7Nu"
	for name, shown := range map[string]bool{"AWS_SECRET_ACCESS_KEY": false, "level": true} {
		problems := schema.Check(parsed(t, name+": "+key+"\n"))
		if len(problems) != 1 || strings.Contains(problems[0].Message, key) != shown {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// TestSchemaAliases demands that a wrong value under an alias is reported at the alias's
// place for the value itself, and at the anchor's for what is inside it.
func TestSchemaAliases(t *testing.T) {
	problems := CheckArtifact(small.Progress, parsed(t, "small_version: '1.0.0'\nowner: agent\nentries:\n- &e {task_id: 1}\n- *e\n- {<<: *e}\n"))
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%s %s", p.Pos, p.Subject))
	}
	if diff := cmp.Diff([]string{"4:16 entries.0.task_id", "4:16 entries.1.task_id", "4:16 entries.2.task_id"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSchemaInParts puts one mistake into a long log, at every part's edges.
func TestSchemaInParts(t *testing.T) {
	const entries = 5000
	for _, wrong := range []int{0, 1, 1110, 1111, 1112, 2222, 3333, 4444, entries - 1} {
		var b strings.Builder
		b.WriteString("small_version: '1.0.0'\nowner: agent\nentries:\n")
		for i := range entries {
			key := "evidence"
			if i == wrong {
				key = "evidense"
			}
			fmt.Fprintf(&b, "- {task_id: a, timestamp: b, %s: {a: 1, b: 2, c: 3}}\n", key)
		}
		problems := CheckArtifact(small.Progress, parsed(t, b.String()))
		if len(problems) != 1 || problems[0].Pos != (small.Pos{Line: 4 + wrong, Column: 30}) || problems[0].Subject != fmt.Sprintf("entries.%d.evidense", wrong) {
			t.Errorf("entry %d: %v", wrong, problems)
		}
	}
}

// TestSchemaBounds demands one problem of the whole document for a hopeless file, instead of an endless list.
func TestSchemaBounds(t *testing.T) {
	problems := CheckArtifact(small.Plan, parsed(t, "small_version: '1.0.0'\nowner: agent\ntasks:\n"+strings.Repeat("- {}\n", maxProblems)))
	if n := len(problems); n != maxProblems+1 {
		t.Errorf("%d problems", n)
	}
	first := slices.IndexFunc(problems, func(p small.Problem) bool { return strings.HasPrefix(p.Message, "more than 50000 problems") })
	if first < 0 || problems[first].Pos != (small.Pos{Line: 1, Column: 1}) || problems[first].Subject != "" {
		t.Errorf("it is not said of the document that some are not listed")
	}
}

// TestSchemaBoundsOfKeys demands that the first of very many unknown keys are listed, and what follows them is still seen.
func TestSchemaBoundsOfKeys(t *testing.T) {
	var b strings.Builder
	for i := range maxProblems + 10 {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	problems := CheckArtifact(small.Progress, parsed(t, b.String()+valid[small.Progress]))
	if n := len(problems); n != maxProblems+1 {
		t.Fatalf("%d problems", n)
	}
	last := maxProblems - 1
	if got := problems[len(problems)-1]; got.Subject != fmt.Sprintf("k%d", last) || got.Pos != (small.Pos{Line: last + 1, Column: 1}) {
		t.Errorf("the last one is %v", got)
	}
	for _, p := range problems {
		if strings.Contains(p.Message, "lacks") {
			t.Errorf("%v", p)
		}
	}
}

// TestSchemaLikeTheLast puts a value that fits before one that looks nearly the same and does not.
func TestSchemaLikeTheLast(t *testing.T) {
	text := []byte(`{"items": {"type": ["string", "array", "object"], "minItems": 1, "required": ["a"]}}`)
	schema, err := New(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{
		"['12', 12]", "['', ~]", "['true', true]", "[!!binary MjAyNi0wMS0wMQ==, 2026-01-01]", "['2026-01-01', 2026-01-01]",
		"[[x], []]", "[{a: 1}, {b: 1}]", "[{a: 1}, {}]", "[[x], {}]",
	} {
		doc := &small.Document{Root: parsed(t, "list: "+list).Root.Get("list")}
		problems := schema.Check(doc)
		if diff := cmp.Diff(schema.byLibrary(t, text, doc), problems); diff != "" || len(problems) != 1 || problems[0].Pos != doc.Root.Items[1].Pos {
			t.Errorf("%s: %v (-library +ours):\n%s", list, problems, diff)
		}
	}
}

// A text that follows one that fits is judged again where the schema asks for more than a text.
func TestSchemaOfTexts(t *testing.T) {
	for _, text := range []string{
		`{"items": {"type": "string"}}`, `{"items": {"type": "string", "minLength": 1}}`, `{"items": {"type": "string", "minLength": 2}}`,
		`{"items": {"type": ["string", "array"], "minLength": 1}}`, `{"items": {"type": "string", "maxLength": 2}}`,
		`{"items": {"type": "string", "pattern": "^a"}}`, `{"items": {"type": "string", "enum": ["ab", "b"]}}`, `{"items": {"minLength": 1}}`, `{"items": {}}`,
	} {
		schema, err := New([]byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"[ab, b]", "[ab, '']", "['', ab]", "[ab, ccc]", "[ab, 1]", "[ab, !!binary YWI=]", "[ab, ~]", "[ab, [ab]]", "[ab, '', b]"} {
			doc := &small.Document{Root: parsed(t, "list: "+list).Root.Get("list")}
			if diff := cmp.Diff(schema.byLibrary(t, []byte(text), doc), schema.Check(doc)); diff != "" {
				t.Errorf("%s, %s (-library +ours):\n%s", text, list, diff)
			}
		}
	}
}
