package schema

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

// given reads a schema that is fine.
func given(t testing.TB, text string) *Given {
	t.Helper()
	g, problem := ReadGiven([]byte(text))
	if problem != nil {
		t.Fatalf("line %d: %s\n%.300s", problem.Pos.Line, problem.Message, text)
	}
	return g
}

// jsonValue reads one JSON text.
func jsonValue(t testing.TB, text string) *small.Value {
	t.Helper()
	doc, problems := small.ParseJSONValue([]byte(text), small.Limits{})
	if doc == nil {
		t.Fatalf("%v\n%.300s", problems, text)
	}
	return doc.Root
}

func TestGivenCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, value, want string }{
		{`{"required": ["id"]}`, `{"id": 1}`, ""},
		{`{"required": ["id"]}`, `{}`, `the entry lacks the key "id"`},
		{`{"required": ["id"]}`, `[1]`, ""},
		{`{"type": "object"}`, `[1]`, "the entry is a list; a mapping is expected"},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "$id": "http://127.0.0.1:9/x.json", "type": "object"}`, `{}`, ""},
		{`{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"id": {"type": "integer"}}, "properties": {"id": {"$ref": "#/$defs/id"}}}`, `{"id": "x"}`, `"id" is a string; a whole number is expected`},
		{`{"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true}`, `1`, "the entry: must be greater than 1"},
		{`{"properties": {"kind": {"enum": ["a", "b"]}, "n": {"minimum": 3}}}`, `{"n": 1, "kind": "c"}`, `"n" is 1; at least 3 is expected|"kind" is "c"; expected "a" or "b"`},
		{`{"properties": {"kind": {"const": "a"}}}`, `{"kind": "b"}`, `"kind" is "b"; expected "a"`},
		{`{"properties": {"at": {"format": "date"}}}`, `{"at": "yesterday"}`, `"at" is "yesterday"; expected the format date`},
		{`{"pattern": "^[0-9]+$"}`, `"x"`, `the entry is "x"; expected a text that matches ^[0-9]+$`},
		{`{"additionalProperties": false, "properties": {"a": {}}}`, `{"b": 1}`, `unknown key "b" in the entry`},
		{`{"minItems": 2}`, `[1]`, "the entry has 1 item; at least 2 are expected"},
		{`{"minLength": 2}`, `"x"`, `the entry is "x"; at least 2 characters are expected`},
		{`{"oneOf": [{"type": "string"}, {"minLength": 1}]}`, `"x"`, "the entry: must validate one and only one schema (oneOf)"},
		{`{"if": {"required": ["a"]}, "then": {"required": ["b"]}}`, `{"a": 1}`, `the entry lacks the key "b"|the entry: must validate "then" as "if" was valid`},
		// References: to the root, through escapes, to a place that is no definition, to true, and again and again deeper in the value.
		{`{"properties": {"next": {"$ref": "#"}}, "required": ["id"]}`, `{"id": 1, "next": {"id": 2, "next": {}}}`, `"next" of "next" lacks the key "id"`},
		{`{"definitions": {"a/b~c %": {"type": "string"}}, "items": {"$ref": "#/definitions/a~1b~0c%20%25"}}`, `[1]`, `"0" is a number; a string is expected`},
		{`{"properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}}`, `{"b": 1}`, `"b" is a number; a string is expected`},
		{`{"definitions": {"no": false}, "properties": {"b": {"$ref": "#/definitions/no"}}}`, `{"b": 1}`, `"b": false always fails validation|"b": must validate all the schemas (allOf)`},
		{`{"items": [{"$ref": "#/items/1"}, {"type": "string"}]}`, `[1, "x"]`, `"0" is a number; a string is expected`},
		// What the library reads as a keyword is a name here, and addresses in values are values.
		{`{"properties": {"$ref": {"type": "string"}, "$id": {"type": "string"}, "id": {"type": "integer"}}}`, `{"$ref": 1, "$id": "x", "id": 2}`, `"$ref" is a number; a string is expected`},
		{`{"default": {"$ref": "http://127.0.0.1:9/"}, "enum": [{"$ref": "http://127.0.0.1:9/"}]}`, `{"$ref": "http://127.0.0.1:9/"}`, ""},
		{`{"properties": {"a": {"const": {"$ref": "#/definitions/0"}}}}`, `{"a": {"$ref": "#/definitions/0"}}`, ""},
		// Numbers for which the library would end the program, or take hours.
		{`{"type": "number"}`, `1e400`, "1e400 is a number beyond those of computers, which no schema can judge"},
		{`{"enum": [1]}`, `[1e999999999]`, "1e999999999 is a number beyond those of computers, which no schema can judge"},
		{`{"type": "integer"}`, `-123456789012345678901234567890`, ""},
		{`{"maxLength": 200, "minItems": 1e1}`, `[]`, "the entry has 0 items; at least 10 are expected"},
		{`{"multipleOf": 0.01}`, `1.005`, "the entry: must be a multiple of 0.01"},
	} {
		var got []string
		for _, p := range given(t, c.schema).Check(jsonValue(t, c.value)) {
			got = append(got, p.Message)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s\n%s\ngot  %s\nwant %s", c.schema, c.value, strings.Join(got, "|"), c.want)
		}
	}
}

// TestGivenKeys: a message shows an entry's keys as other text of a file, short and without credentials.
func TestGivenKeys(t *testing.T) {
	t.Parallel()
	for _, key := range []string{strings.Repeat("k", 1000), "AKIA" + "2OGYBAH6STMMNABC", "`rm`"} {
		for schema, value := range map[string]string{
			`{"additionalProperties": {"type": "string"}}`:                                   `{%q: 1}`,
			`{"additionalProperties": {"items": {"type": "string"}}}`:                        `{%q: [1]}`,
			`{"additionalProperties": {"items": {"properties": {"a": {"type": "string"}}}}}`: `{%q: [{"a": 1}]}`,
			`{"additionalProperties": {"properties": {"a": {"type": "string"}}}}`:            `{%q: {"a": 1}}`,
			`{"additionalProperties": {"required": ["a"]}}`:                                  `{%q: {}}`,
			`{"patternProperties": {"": {"additionalProperties": false}}}`:                   `{"a": {%q: 1}}`,
			fmt.Sprintf(`{"required": [%q]}`, key):                                           `{"%.0s": 1}`,
		} {
			for _, p := range given(t, schema).Check(jsonValue(t, fmt.Sprintf(value, key))) {
				if strings.Contains(p.Message, key) || len(p.Message) > 300 {
					t.Errorf("%.100s: %.500s", schema, p.Message)
				}
			}
		}
	}
}

func TestGivenRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, want string }{
		{`{"type": "object"`, "line 1: not JSON: the text ends too early"},
		{``, "line 1: the file is empty"},
		{`[]`, "line 1: the document is a list; a mapping is expected"},
		{`{"type": "objekt"}`, `line 1: "type" is "objekt"; expected`},
		{"{\n\"type\": \"object\", \"type\": \"array\"}", `line 2: duplicate key "type"`},
		{`{"enum": []}`, `line 1: "enum" is empty`},
		{`{"minimum": 1e400}`, "line 1: 1e400 is a number beyond those of computers, which no schema can judge"},
		{`{"$ref": "http://127.0.0.1:9/x.json"}`, "only references within the file"},
		{`{"$ref": "file:///etc/passwd"}`, "only references within the file"},
		{`{"$ref": "other.json#/a"}`, "only references within the file"},
		{`{"$ref": "http://json-schema.org/draft-07/schema#"}`, "only references within the file"},
		{`{"$ref": "#name"}`, "only references within the file"},
		{`{"$ref": "?#/definitions/a", "definitions": {"a": {}}}`, "only references within the file"},
		{`{"properties": {"a": {"$ref": "//127.0.0.1:9/#/a"}}}`, "only references within the file"},
		{`{"definitions": {"unused": {"$ref": "http://127.0.0.1:9/x.json"}}}`, "only references within the file"},
		{`{"$ref": "#/definitions/a"}`, `$ref is "#/definitions/a", which is not in the file`},
		{`{"$ref": "#/title", "title": "x"}`, "a schema is expected here, not a string"},
		{`{"$ref": "#/definitions/a", "type": "object", "definitions": {"a": {}}}`, `the keyword "type" is ignored beside $ref`},
		{`{"$id": "http://127.0.0.1:9/", "properties": {"a": {"$id": "x/", "$ref": "#/properties/b"}, "b": {}}}`, `"$id" inside the schema`},
		{`{"unevaluatedProperties": false}`, `the keyword "unevaluatedProperties" is of a later draft`},
		{`{"items": {"pattern": "(?=x)"}}`, "is no regular expression"},
		{`{"pattern": "` + strings.Repeat("x", 1001) + `"}`, "a regular expression has 1001 bytes; at most 1000 are read"},
		{`{"pattern": "(` + strings.Repeat("x", 900) + `){900}"}`, "is too large"},
		{`{"patternProperties": {"(x{100}){900}": {}}}`, "is no regular expression"},
		// Circles.
		{`{"$ref": "#"}`, "the schema leads back to itself"},
		{`{"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}}, "items": {"$ref": "#/definitions/a"}}`, "the schema leads back to itself"},
		{"{\"properties\": {\"a\": {\n\"allOf\": [{\"$ref\": \"#/properties/a\"}]}}}", "line 1: the schema leads back to itself"},
		{`{"anyOf": [{"type": "string"}, {"$ref": "#"}]}`, "the schema leads back to itself"},
		{`{"oneOf": [{"$ref": "#"}]}`, "the schema leads back to itself"},
		{`{"not": {"$ref": "#"}}`, "the schema leads back to itself"},
		{`{"if": {"$ref": "#"}}`, "the schema leads back to itself"},
		{`{"if": {}, "then": {"$ref": "#"}}`, "the schema leads back to itself"},
		{`{"if": {}, "else": {"$ref": "#"}}`, "the schema leads back to itself"},
		{`{"dependencies": {"a": {"$ref": "#"}}}`, "the schema leads back to itself"},
		{`{"allOf": [{"$ref": "#/%61llOf/0"}]}`, "the schema leads back to itself"},
		// Size.
		{`{"title": "` + strings.Repeat("x", MaxGiven) + `"}`, "it has 1048589 bytes; at most 1048576 are read"},
		{`{"allOf": [` + strings.Repeat("{},", maxParts) + `{}]}`, "more than 10000 subschemas"},
		{strings.Repeat(`{"not":`, 2000) + "{}" + strings.Repeat("}", 2000), "nested deeper than 1000 levels"},
		{`{"required": [` + words(maxWords+1) + `]}`, `"required" has 5001 values; at most 5000 are read`},
	} {
		_, problem := ReadGiven([]byte(c.schema))
		if problem == nil {
			t.Errorf("%.200s is not refused", c.schema)
			continue
		}
		if got := fmt.Sprintf("line %d: %s", problem.Pos.Line, problem.Message); !strings.Contains(got, c.want) {
			t.Errorf("%.200s\ngot  %s\nwant %s", c.schema, got, c.want)
		}
	}
}

// words are n different texts.
func words(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`"w%d"`, i))
	}
	return strings.Join(out, ",")
}

// TestGivenHostile judges values by schemas that would take the library for ever, or all of the memory.
func TestGivenHostile(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 900) + "1" + strings.Repeat("}", 900)
	var doubling strings.Builder // each definition refers to the next one twice
	for i := range 60 {
		fmt.Fprintf(&doubling, `"d%d": {"allOf": [{"$ref": "#/definitions/d%d"}, {"$ref": "#/definitions/d%d"}]},`, i, i+1, i+1)
	}
	chain := strings.Builder{}
	for i := range maxParts - 2 {
		fmt.Fprintf(&chain, `"d%d": {"$ref": "#/definitions/d%d"},`, i, i+1)
	}
	const tooMuch = "judging it takes more than 200000 steps"
	for name, c := range map[string]struct{ schema, value, want string }{
		"two patterns for each key": {`{"patternProperties": {"a": {"$ref": "#"}, "^a": {"$ref": "#"}}}`, deep, tooMuch},
		"two ways to each member":   {`{"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]}`, deep, tooMuch},
		"doubling":                  {`{"definitions": {` + doubling.String() + `"d60": {}}, "$ref": "#/definitions/d0"}`, "1", tooMuch},
		"a long chain":              {`{"definitions": {` + chain.String() + fmt.Sprintf(`"d%d": {"type": "string"}}, "$ref": "#/definitions/d0"}`, maxParts-2), "1", "the entry is a number; a string is expected"},
		"deep in both":              {`{"additionalProperties": {"$ref": "#"}, "type": ["object", "integer"]}`, deep, ""},
		"many values":               {`{"items": {"type": "string"}}`, "[" + strings.Repeat("1,", 300_000) + "1]", tooMuch},
		"many words":                {`{"required": [` + words(maxWords) + `], "enum": [` + words(maxWords) + `]}`, `{}`, "or others"},
		"nested":                    {strings.Repeat(`{"not":`, 900) + "{}" + strings.Repeat("}", 900), "1", ""},
		"a pattern, a long text":    {`{"properties": {"a": {"pattern": "^((a|b)*c?){500}d$"}}}`, `{"a": "` + strings.Repeat("a", 1<<20) + `"}`, tooMuch},
		"a pattern, a long key":     {`{"patternProperties": {"^((a|b)*c?){500}d$": {"type": "string"}}}`, `{"` + strings.Repeat("a", 1<<20) + `": 1}`, tooMuch},
		"a pattern, a long name":    {`{"propertyNames": {"pattern": "^((a|b)*c?){500}d$"}}`, `{"` + strings.Repeat("a", 1<<20) + `": 1}`, tooMuch},
		"written at each level":     {`{"const": 1, "items": {"$ref": "#"}}`, strings.Repeat("[", 900) + `"` + strings.Repeat("a", 1<<20) + `"` + strings.Repeat("]", 900), tooMuch},
		"a short pattern":           {`{"properties": {"a": {"pattern": "^[a-z]+$", "const": "b"}}, "uniqueItems": true}`, `{"a": "` + strings.Repeat("a", 1<<20) + `"}`, `expected "b"`},
		"a large program":           {`{"pattern": "^(x{0,190}y){5}$"}`, `"` + strings.Repeat("x", 20_000) + `"`, "expected a text that matches"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			problems := given(t, c.schema).Check(jsonValue(t, c.value))
			got := ""
			if len(problems) > 0 {
				got = problems[0].Message
			}
			if !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}
