package small

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParseAccepts lists what is read, by its canonical form.
func TestParseAccepts(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\n":                         `{"a":1}`,
		"a: 1":                           `{"a":1}`,
		"{a: 1, b: [x, 'y', \"z\"]}":     `{"a":1,"b":["x","y","z"]}`,
		"\ufeffa: 1\n":                   `{"a":1}`,
		"a: x\r\nb: |\r\n  y\r\n  z\r\n": `{"a":"x","b":"y\nz\n"}`,
		"a: x\rb: y\r":                   `{"a":"x","b":"y"}`,
		"---\na: 1\n":                    `{"a":1}`,
		"# head\n\n--- # marker\na: 1\n": `{"a":1}`,
		"%YAML 1.1\n---\na: 1\n":         `{"a":1}`,
		"a: 1\n...\n":                    `{"a":1}`,
		"a: 1\n...\n# nothing follows\n": `{"a":1}`,
		"---\na: 1\n---\n":               `{"a":1}`,
		"a: 1\n...\n---\n# nothing\n--- # c\n...\n":                                   `{"a":1}`,
		"a:\n- x\n- - y\n  - z\n":                                                     `{"a":["x",["y","z"]]}`,
		"a:\nb: ~\nc: null\nd: ''\n":                                                  `{"a":null,"b":null,"c":null,"d":""}`,
		"a: true\nb: yes\nc: off\nd: 'true'\n":                                        `{"a":true,"b":"yes","c":"off","d":"true"}`,
		"a: >-\n  x\n  y\n\n  z\nb: |+\n  x\n\n":                                      `{"a":"x y\nz","b":"x\n\n"}`,
		"'a': 1\n\"b\": 2\n? c\n: 3\n":                                                `{"a":1,"b":2,"c":3}`,
		"a: |\n  <<<<<<< HEAD\n  =======\n":                                           `{"a":"<<<<<<< HEAD\n=======\n"}`,
		"a: \"\\b\\f\\n\\r\\t\\e\\x7f\\\\\\\"/\"\n":                                   `{"a":"\b\f\n\r\t\u001b` + "\x7f" + `\\\"/"}`,
		"a: x y\nb: \"c\\u2028d\"\n":                                                  "{\"a\":\"x y\",\"b\":\"c\u2028d\"}",
		"# " + strings.Repeat("c", 100) + "\n" + strings.Repeat("\n", 100) + "a: 1\n": `{"a":1}`,
		// Tags. A custom one makes a scalar a string.
		"a: !note \"x\"\nb: !note 12\nc: !note {d: 1}\n":             `{"a":"x","b":"12","c":{"d":1}}`,
		"a: !!str 1204\nb: !!str\nc: !!str ~\nd: !!str 2026-01-02\n": `{"a":"1204","b":"","c":"~","d":"2026-01-02"}`,
		"a: !!int \"12\"\nb: !!float 1\nc: !!bool 'true'\n":          `{"a":12,"b":1,"c":true}`,
		"a: !!null ''\nb: ! 12\nc: ! \"12\"\n":                       `{"a":null,"b":12,"c":"12"}`,
		"%TAG !y! tag:yaml.org,2002:\n---\na: !y!str 12\n":           `{"a":"12"}`,
		"a: !!set {b, c}\nd: !!omap [e: 1]\n":                        `{"a":{"b":null,"c":null},"d":[{"e":1}]}`,
		// Scalars that JSON lacks keep their tag and source text.
		"a: !!binary aGVsbG8=\n":                          `{"a":!!binary"aGVsbG8="}`,
		"a: 2026-01-02\nb: 2026-01-02T03:04:05Z\n":        `{"a":!!timestamp"2026-01-02","b":!!timestamp"2026-01-02T03:04:05Z"}`,
		"a: !!timestamp '2026-01-02'\n":                   `{"a":!!timestamp"2026-01-02"}`,
		"a: .inf\nb: -.INF\nc: .nan\nd: !!float '.inf'\n": `{"a":!!float".inf","b":!!float"-.INF","c":!!float".nan","d":!!float".inf"}`,
		// Keys that are not strings are written as their value would be.
		"a: {0: 1, \"1\": 2, 0x2: 3, true: 4, ~: 5, 1.50: 6, .nan: 7, 2026-01-02: 8}\n": `{"a":{"1":2,!!float".nan":7,!!timestamp"2026-01-02":8,0:1,1.5:6,2:3,null:5,true:4}}`,
		"a: {0xa: 1, 9: 2}\n":          `{"a":{10:1,9:2}}`,
		"1: a\n? !!binary YQ==\n: b\n": `{!!binary"YQ==":"b",1:"a"}`,
		"\ufeff# c\r\n\r\n%TAG ! !x\r\n%YAML \t 1.1 # c\r\n---\r\na: |\r\n  %YAML 1.2\r\n": `{"a":"%YAML 1.2\n"}`,
		// Anchors, aliases and merge keys.
		"a: &x [1]\nb: *x\nc: [*x, *x]\n":                           `{"a":[1],"b":[1],"c":[[1],[1]]}`,
		"&k a: 1\nb: {*k : 2}\n":                                    `{"a":1,"b":{"a":2}}`,
		"a: &x 1\nb: &x 2\nc: *x\n":                                 `{"a":1,"b":2,"c":2}`,
		"a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}\n":                   `{"a":{"p":1,"q":2},"b":{"p":1,"q":3}}`,
		"a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc: {<<: [*x, *y]}\n":     `{"a":{"p":1},"b":{"p":2,"q":2},"c":{"p":1,"q":2}}`,
		"a: &x {p: 1}\nb: &y {<<: *x, q: 2}\nc: {r: 3, <<: *y}\n":   `{"a":{"p":1},"b":{"p":1,"q":2},"c":{"p":1,"q":2,"r":3}}`,
		"a: {<<: {p: 1}, p: ~}\nb: {<<: []}\n":                      `{"a":{"p":null},"b":{}}`,
		"a: {\"<<\": {p: 1}, <<: {q: 1}}\nb: <<\n":                  `{"a":{"<<":{"p":1},"q":1},"b":"<<"}`,
		"a: &x {<<: {p: 1}}\nb: {<<: [{<<: [*x]}, {p: 2, q: 2}]}\n": `{"a":{"p":1},"b":{"p":1,"q":2}}`,
		// RFC 8785 orders keys by UTF-16 code units.
		"{\"\\U0001f600\": 1, \"\\uffff\": 2, \"\\ue000\": 3, b: 4, a: 5, \"\": 6, ab: 7, A: 8}": "{\"\":6,\"A\":8,\"a\":5,\"ab\":7,\"b\":4,\"😀\":1,\"\ue000\":3,\"\uffff\":2}",
	} {
		doc, problems := Parse([]byte(text), Limits{})
		if doc == nil {
			t.Errorf("%q: %v", text, problems)
			continue
		}
		if got := doc.Root.Canonical(); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// says writes a problem on one line.
func says(p Problem) string {
	out := fmt.Sprintf("%s %s %s", p.Kind, p.Pos, p.Message)
	if p.Hint != "" {
		out += " | " + p.Hint
	}
	return out
}

// TestParseRejects lists what is not read, with all that is said about it.
func TestParseRejects(t *testing.T) {
	const (
		quotes    = "put a text that holds a colon and a space into quotes, or check the indentation"
		look      = "check the indentation, quotes and brackets of this line and the one above"
		resolve   = "resolve the conflict; in a guarded log, use `small-hook reconcile`"
		merge     = "remove the line --- and what follows it, or merge it into the first document"
		second    = "a second YAML document begins here, and a file must have exactly one | " + merge
		behind    = "the YAML document ended above; no program reads what follows: not YAML: "
		directive = "remove the line that begins with %YAML"
		utf8      = "is not valid UTF-8 | save the file as UTF-8"
		control   = "YAML does not allow this control character | remove it, or write it as an escape in double quotes (\"\\x1b\")"
		inside    = "lies inside the node that it refers to | write the content out instead of referring to it"
		mappings  = "a merge key (<<) takes a mapping or a list of mappings, not"
	)
	for text, want := range map[string]string{
		// No mapping.
		"":                     "yaml 1:1 the file is empty; a mapping is expected",
		"\ufeff":               "yaml 1:1 the file is empty; a mapping is expected",
		"# only a comment\n\n": "yaml 1:1 the file is empty; a mapping is expected",
		"\r\n \n":              "yaml 1:1 the file is empty; a mapping is expected",
		"---\n":                "yaml 2:1 the document is empty; a mapping is expected",
		"null\n":               "yaml 1:1 the document is empty; a mapping is expected",
		"\n- a\n- b\n":         "yaml 2:1 the document is a list; a mapping is expected",
		"[a, b]":               "yaml 1:1 the document is a list; a mapping is expected",
		"some text\n":          "yaml 1:1 the document is a single value; a mapping is expected",
		"|\n  a: 1\n":          "yaml 1:1 the document is a single value; a mapping is expected",
		"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 5\n": "not-a-file 1:1 the file is a Git LFS pointer, not the file itself | remove .small/ from the LFS patterns in .gitattributes and commit the file itself",
		// More than one document.
		"a: 1\n---\nb: 2\n":        "multiple-documents 2:1 " + second,
		"---\na: 1\n---\n---\n~\n": "multiple-documents 4:1 " + second,
		"a: 1\n--- ''\n":           "multiple-documents 2:1 " + second,
		"a: 1\n--- !!null\n":       "multiple-documents 2:1 " + second,
		"a: 1\n--- &a\n":           "multiple-documents 2:1 " + second,
		"a: 1\r\n--- x\r\n":        "multiple-documents 2:1 " + second,
		"a: 1\n---\nb: [\n":        "multiple-documents 3:1 " + behind + "did not find expected node content | " + look,
		"a: 1\n...\nb: 2\n":        "multiple-documents 3:1 " + behind + "did not find expected <document start> | " + look,
		"{a: 1}\n}\n":              "multiple-documents 2:1 " + behind + "did not find expected <document start> | " + look,
		"a: 1\n---\n---\n]\n":      "multiple-documents 4:1 " + behind + "did not find expected node content | " + look,
		// Conflict markers.
		"a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> x\n": "yaml 2:1 the file contains a conflict marker (<<<<<<<) | " + resolve,
		"a: 1\r\n<<<<<<< HEAD\r\n":                             "yaml 2:1 the file contains a conflict marker (<<<<<<<) | " + resolve,
		"a: 1\r\n<<<<<<<\r\n":                                  "yaml 2:1 the file contains a conflict marker (<<<<<<<) | " + resolve,
		"a: 1\n||||||| merged common ancestors\n":              "yaml 2:1 the file contains a conflict marker (|||||||) | " + resolve,
		"a: 1\n>>>>>>> feature":                                "yaml 2:1 the file contains a conflict marker (>>>>>>>) | " + resolve,
		// Encoding.
		"a: 1\nb: \xe9t\xe9\n":         "yaml 2:4 the byte 0xe9 here " + utf8,
		"é: \xc0\xaf\n":                "yaml 1:4 the byte 0xc0 here " + utf8,
		"a: \xed\xa0\x80\n":            "yaml 1:4 the byte 0xed here " + utf8,
		"\xff\xfea\x00:\x00 \x001\x00": "yaml 1:1 the byte 0xff here " + utf8,
		"\xfe\xff\x00a\x00:\x00 \x001": "yaml 1:1 the byte 0xfe here " + utf8,
		"a\x00:\x00 \x001\x00":         "yaml 1:2 " + control,
		"a: 1\nb: \"é\x1b[31m\"\n":     "yaml 2:6 " + control,
		"a: \u0080\n":                  "yaml 1:4 " + control,
		"a: 1\nb: \"\ufffe\"\n":        "yaml 2:5 " + control,
		// Syntax: the line is where the parser stops.
		"a: 1\nb: 2\n c: 3\n":                         "yaml 3:1 not YAML: mapping values are not allowed in this context | " + quotes,
		"x: 1\na: b: c\n":                             "yaml 2:1 not YAML: mapping values are not allowed in this context | " + quotes,
		"e:\n  - x: 1\n    y: 2\n  - x: 1\n   y: 2\n": "yaml 5:1 not YAML: did not find expected '-' indicator | " + look,
		"e:\n  - x: 1\n    y: 2\n   - x: 1\n":         "yaml 4:1 not YAML: did not find expected '-' indicator | " + look,
		"a: 1\nb: \"open\nc: 3\n\n":                   "yaml 2:1 not YAML: found unexpected end of stream | a quote that is opened here is never closed",
		"a: 1\nb: [1, 2\nc: 3\n":                      "yaml 2:1 not YAML: did not find expected ',' or ']' | " + look,
		"a: 1\nb: }\n":                                "yaml 2:1 not YAML: did not find expected node content | " + look,
		"a: 1\nb\nc: 1\n":                             "yaml 2:1 not YAML: could not find expected ':' | " + look,
		"a:\n\tb: 1\n":                                "yaml 2:1 not YAML: found character that cannot start any token | YAML indents with spaces; replace the tab",
		"a: 1\nb: @x\n":                               "yaml 2:1 not YAML: found character that cannot start any token | quote the text: without quotes it cannot begin with @, `, % or a tab",
		"a: 1\nb: \"\\q\"\n":                          "yaml 2:1 not YAML: found unknown escape character",
		"a: 1\nb: \"\\ud800\"\n":                      "yaml 2:1 not YAML: found invalid Unicode character escape code",
		"a: 1\nb: *c\n":                               "yaml 2:1 not YAML: unknown anchor 'c' referenced",
		"%YAML 1.2\n---\na: 1\n":                      "yaml 1:1 not YAML: found incompatible YAML document | " + directive,
		"# c\n%YAML 1.3\n---\na: 1\n":                 "yaml 2:1 not YAML: found incompatible YAML document | " + directive,
		// Keys.
		"a: 1\nb: 2\n\"a\": 3\n":    "yaml 3:1 duplicate key \"a\"; it is already on line 1 | remove one of the two",
		"a:\n  - {b: 1, 'b': 2}\n":  "yaml 2:12 duplicate key \"b\"; it is already on line 2 | remove one of the two",
		"&k a: 1\n*k : 2\n":         "yaml 2:1 duplicate key \"a\"; it is already on line 1 | remove one of the two",
		"1: a\n'1': b\n":            "yaml 2:1 duplicate key \"1\"; it is already on line 1 | remove one of the two",
		"a: {0: 1, 0x0: 2}\n":       "yaml 1:11 duplicate key \"0x0\"; it is already on line 1 | remove one of the two",
		"a: {~: 1, null: 2}\n":      "yaml 1:11 duplicate key \"null\"; it is already on line 1 | remove one of the two",
		"a: {1: 1, 1.0: 2}\n":       "yaml 1:11 duplicate key \"1.0\"; it is already on line 1 | remove one of the two",
		"? [a]\n: 1\n":              "yaml 1:3 a key is a list; keys are single values",
		"a: &x {b: 1}\n? *x\n: 1\n": "yaml 2:3 a key is a mapping; keys are single values",
		"!!int x: 1\n":              "yaml 1:1 the value does not fit its tag !!int",
		// Tags that do not fit.
		"a: !!int 1.5\n":               "yaml 1:4 the value does not fit its tag !!int",
		"a: !!bool yes\n":              "yaml 1:4 the value does not fit its tag !!bool",
		"a: !!null x\n":                "yaml 1:4 the value does not fit its tag !!null",
		"a: !!binary \"%%\"\n":         "yaml 1:4 the value does not fit its tag !!binary",
		"a: &x !!int y\nb: [*x, *x]\n": "yaml 1:4 the value does not fit its tag !!int",
		// Anchors and merge keys.
		"a: &x [1, *x]\n":                "yaml 1:11 the alias *x " + inside,
		"a: &x {b: {c: *x}}\n":           "yaml 1:15 the alias *x " + inside,
		"a: &x {<<: *x}\n":               "yaml 1:12 the alias *x " + inside,
		"a: &x {<<: [{b: *x}]}\n":        "yaml 1:17 the alias *x " + inside,
		"a: {<<: 1}\n":                   "yaml 1:9 " + mappings + " a single value",
		"a: {<<: [{b: 1}, [c]]}\n":       "yaml 1:18 " + mappings + " a list",
		"a: &x [{b: 1}]\nc: {<<: *x}\n":  "yaml 2:9 " + mappings + " a list",
		"a: {<<: ~}\n":                   "yaml 1:9 " + mappings + " empty",
		"<<: {a: 1}\nb: 1\n<<: {c: 1}\n": "yaml 3:1 duplicate key \"<<\"; it is already on line 1 | give one merge key a list: <<: [*a, *b]",
	} {
		doc, problems := Parse([]byte(text), Limits{})
		if doc != nil || len(problems) != 1 {
			t.Errorf("%q: %d problems: %v", text, len(problems), problems)
			continue
		}
		if diff := cmp.Diff(want, says(problems[0])); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// TestParseListsProblems demands every wrong key, but no endless list.
func TestParseListsProblems(t *testing.T) {
	_, problems := Parse([]byte("a: 1\na: 2\nb: {[1]: x, c: 1, c: 2}\n"), Limits{})
	if len(problems) != 3 {
		t.Errorf("%d problems, want 3: %v", len(problems), problems)
	}
	_, problems = Parse([]byte(strings.Repeat("a: 1\n", 1000)), Limits{})
	if len(problems) != maxParseProblems+1 {
		t.Fatalf("%d problems, want %d", len(problems), maxParseProblems+1)
	}
	if got, want := says(problems[maxParseProblems]), "yaml 102:1 more than 100 problems; the rest of the file is not examined"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSizeLimit(t *testing.T) {
	data := []byte("a: " + strings.Repeat("x", 100))
	if doc, _ := Parse(data, Limits{MaxFileSize: int64(len(data))}); doc == nil {
		t.Error("a file of exactly the limit is rejected")
	}
	doc, problems := Parse(data, Limits{MaxFileSize: int64(len(data)) - 1})
	if doc != nil || len(problems) != 1 || problems[0].Kind != ProblemTooLarge || problems[0].Pos != (Pos{}) {
		t.Errorf("got %v, %v", doc, problems)
	}
	if want := "the file has 103 bytes, the limit is 102"; problems[0].Message != want {
		t.Errorf("message %q, want %q", problems[0].Message, want)
	}
	if got := (Limits{}).FileSize(); got != DefaultMaxFileSize {
		t.Errorf("the default limit is %d", got)
	}
}

// TestPositions demands that a value's position is where its text begins,
// whatever ends the lines before it. Columns count characters.
func TestPositions(t *testing.T) {
	const text = "a: &j x\nbé: {ü: [y, 'z'], \"日\": 1}\nd:\n  - e\n  -   f: g\n      h: |\n        i\n  - *j\n  -\n"
	const want = `a:1:1=1:4 bé:2:1=2:5 bé.ü:2:6=2:9 bé.ü.0=2:10 bé.ü.1=2:13 bé.日:2:19=2:24 d:3:1=4:3 d.0=4:5 ` +
		`d.1=5:7 d.1.f:5:7=5:10 d.1.h:6:7=6:10 d.2=8:5 d.3=9:4 `
	var walk func(path string, v *Value) string
	walk = func(path string, v *Value) string {
		out := ""
		for i, item := range v.Items {
			p := fmt.Sprintf("%s.%d", path, i)
			out += fmt.Sprintf("%s=%s ", p, item.Pos) + walk(p, item)
		}
		for _, f := range v.Fields {
			p := strings.TrimPrefix(path+"."+f.Key, ".")
			out += fmt.Sprintf("%s:%s=%s ", p, f.KeyPos, f.Value.Pos) + walk(p, f.Value)
		}
		return out
	}
	for _, eol := range []string{"\n", "\r\n", "\r"} {
		doc := parsed(t, "\ufeff"+strings.ReplaceAll(text, "\n", eol))
		if diff := cmp.Diff(want, walk("", doc.Root)); diff != "" {
			t.Errorf("with %q at the end of lines (-want +got):\n%s", eol, diff)
		}
	}
}

// TestWideMappings looks for duplicates, and for what a merge key adds, among
// more keys than are compared one by one.
func TestWideMappings(t *testing.T) {
	keys := numbered(40, "k%: 1\n")
	_, problems := Parse([]byte(keys+"k7: 2\nk40: 1\nk40: 2\n"), Limits{})
	var got []string
	for _, p := range problems {
		got = append(got, says(p))
	}
	want := []string{
		`yaml 41:1 duplicate key "k7"; it is already on line 8 | remove one of the two`,
		`yaml 43:1 duplicate key "k40"; it is already on line 42 | remove one of the two`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	merged := parsed(t, keys+"<<: {k3: 2, more: 2}\n").Root
	if n := len(merged.Fields); n != 41 || merged.Get("k3").Text != "1" || merged.Get("more").Text != "2" {
		t.Errorf("%d fields: %s", n, merged.Canonical())
	}
}

// TestLongTexts demands messages of a readable length whatever the file holds.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("ä", 500)
	for _, text := range []string{
		long + ": 1\n" + long + ": 2\n", "a: *" + long + "\n", "a: !!int " + long + "\n", "? " + strings.Repeat("1", 300) + "\n: 1\n? " + strings.Repeat("1", 300) + "\n: 1\n",
		"a: &" + long + " [*" + long + "]\n", "a: !!binary " + long + "\n",
	} {
		_, problems := Parse([]byte(text), Limits{})
		if len(problems) == 0 {
			t.Fatalf("%.50q is read", text)
		}
		for _, p := range problems {
			if n := len([]rune(says(p))); n > 300 {
				t.Errorf("%.50q: a message of %d characters: %s", text, n, says(p))
			}
		}
	}
}

// TestAppendColumnOfNothing: a document without keys has no column for items.
func TestAppendColumnOfNothing(t *testing.T) {
	data := []byte("{}\n")
	doc, _ := Parse(data, Limits{})
	if column := doc.AppendColumn(data); column != 0 {
		t.Errorf("column %d", column)
	}
	if longer := doc.Extend(data, []byte("{}\n- a\n"), Limits{}); longer != nil {
		t.Errorf("read as %s", longer.Root.Canonical())
	}
}

// TestParseWorkspace: keys of a workspace file that the protocol does not know may hold anything.
func TestParseWorkspace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"kind: x\nnote: {a: 1, a: 2}\n":                                 `{"kind":"x","note":null}`,
		"kind: x\nnote: {a: 1}\n":                                       `{"kind":"x","note":{"a":1}}`,
		"kind: x\nnote: !!int x\nrun: {replay_id: a, b: {[c]: d}}\n":    `{"kind":"x","note":null,"run":{"b":null,"replay_id":"a"}}`,
		"note: &x [{a: 1, a: 2}]\nkind: x\n&k other: {[a]: 1}\n":        `{"kind":"x","note":null,"other":null}`,
		"kind: {a: 1, a: 2}\n":                                          "",
		"kind: x\nkind: y\n":                                            "",
		"run: {replay_id: {a: 1, a: 2}}\n":                              "",
		"kind: x\n[a]: 1\n":                                             "",
		"kind: x\n<<: {kind: y, b: {a: 1, a: 2}}\n":                     "",
		"kind: x\nnote: |\n  <<<<<<< HEAD\n<<<<<<< HEAD\nb: {[c]: 1}\n": "",
		"kind: x\nnote: {a: 1, a: 2}\n---\nb: 1\n":                      "",
		"note: &x {a: 1, a: 2}\nother: *x\n":                            `{"note":null,"other":null}`,
		"note: &x {a: 1, a: 2}\nrun: *x\n":                              "",
		"note: &x !!int a\nrun: {replay_id: *x}\n":                      "",
		"note: &x {a: 1, a: 2}\nrun: {<<: *x}\n":                        "",
	} {
		doc, problems := ParseWorkspace([]byte(text), Limits{})
		switch {
		case doc == nil && want != "", doc != nil && doc.Root.Canonical() != want, doc == nil && len(problems) == 0:
			t.Errorf("%q: %v, %v", text, doc, problems)
		}
	}
}
