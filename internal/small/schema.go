package small

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/xeipuuv/gojsonschema"
)

// The schemas are draft-07. What they say is protocol.md's tables: presence,
// types, enumerations and forms. Blank strings, timestamps and
// evidence are rules of their own, with better words.
//
//go:embed schema/*.json
var schemaFiles embed.FS

// schemas compiles each artifact's schema on first use: a hook that has
// nothing to judge does not pay for them.
var schemas = func() map[Artifact]func() *Schema {
	out := map[Artifact]func() *Schema{}
	for _, a := range Artifacts {
		if !a.Canonical() {
			continue
		}
		out[a] = sync.OnceValue(func() *Schema { return artifactSchema(a, artifactText(a)) })
	}
	return out
}()

// Extensions are the keys that an entry may have beside the protocol's, where
// somebody allows them by name. Each is a string that is not blank.
var Extensions = []string{"agent_id"}

// extended is the schema of progress with every extension allowed.
var extended = sync.OnceValue(func() *Schema { return artifactSchema(Progress, extendedText()) })

func extendedText() []byte {
	var schema map[string]any
	if err := json.Unmarshal(artifactText(Progress), &schema); err != nil {
		panic(fmt.Sprintf("small: the schema of progress is no JSON: %v", err))
	}
	at := schema
	for _, key := range []string{"properties", "entries", "items", "properties"} {
		at = at[key].(map[string]any) //nolint:errcheck // it is our own file, and a test reads it
	}
	for _, key := range Extensions {
		at[key] = map[string]any{"type": "string", "pattern": `\S`}
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("small: the extended schema of progress: %v", err))
	}
	return raw
}

// artifactForms says what the artifacts' patterns ask for.
var artifactForms = map[string]string{
	"replayId":           "64 hex digits",
	"previous_replay_id": "64 hex digits",
	"command_sha256":     "64 lower-case hex digits",
	"commit":             "7 to 40 lower-case hex digits",
	"agent_id":           "an agent's id, which is not blank",
}

func artifactText(a Artifact) []byte {
	raw, err := schemaFiles.ReadFile("schema/" + string(a) + ".json")
	if err != nil {
		panic(fmt.Sprintf("small: the schema of %s is not embedded: %v", a, err))
	}
	return raw
}

func artifactSchema(a Artifact, raw []byte) *Schema {
	schema, err := NewSchema(raw, artifactForms)
	if err != nil {
		panic(fmt.Sprintf("small: the schema of %s does not compile: %v", a, err))
	}
	return schema
}

// CheckSchema judges a canonical artifact by its schema, with entries that may
// have the extensions that are allowed. For any other artifact it returns
// nothing.
func CheckSchema(a Artifact, doc *Document, allowed ...string) []Problem {
	compiled := schemas[a]
	if compiled == nil {
		return nil
	}
	schema := compiled()
	if a == Progress && len(allowed) > 0 {
		schema = extended()
	}
	return append(schema.Check(doc), ambiguous(a, doc.Root)...)
}

// Schema is a compiled JSON Schema (draft-07), with the words in which it
// reports.
type Schema struct {
	root  *schemaNode
	forms map[string]string
}

// NewSchema compiles a JSON Schema. It may have only the keywords that its
// package's TestSchemaKeywords lists: the library ignores those that it does not
// know, and values are judged one by one. forms says by key what a pattern asks for.
func NewSchema(raw []byte, forms map[string]string) (*Schema, error) {
	var schema map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&schema); err != nil {
		return nil, err
	}
	root, err := newNode(schema)
	return &Schema{root: root, forms: forms}, err
}

// Check judges a document. It returns the problems in the order of the file;
// where there are very many it lists some tens of thousands, and says so.
func (s *Schema) Check(doc *Document) []Problem {
	c := &schemaCheck{schema: s, root: doc.Root, fits: map[*schemaNode]*Value{}}
	c.value(s.root, doc.Root, nil)
	slices.SortStableFunc(c.problems, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.Pos.Line, y.Pos.Line), cmp.Compare(x.Pos.Column, y.Pos.Column))
	})
	return c.problems
}

// schemaCheck applies one schema to one document.
type schemaCheck struct {
	schema   *Schema
	root     *Value
	problems []Problem
	// fits is the last value that fits a node.
	fits map[*schemaNode]*Value
}

func (c *schemaCheck) add(path []string, v *Value, e gojsonschema.ResultError) {
	switch n := len(c.problems); {
	case n < maxSchemaProblems:
		c.problems = append(c.problems, c.schema.problem(path, v, e))
	case n == maxSchemaProblems:
		// Said of the document, not of the item: nothing that excuses an
		// entry may excuse what is not listed.
		c.problems = append(c.problems, Problem{
			Kind: ProblemSchema, Pos: c.root.Pos,
			Message: fmt.Sprintf("more than %d problems; the others are not listed", maxSchemaProblems),
		})
	}
}
