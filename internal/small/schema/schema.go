// Package schema judges documents by JSON Schemas: those of the protocol's artifacts, and others. It says in plain words what does not fit, and where.
package schema

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/xeipuuv/gojsonschema"

	"github.com/small-gate/small-gate/internal/small"
)

// The schemas are draft-07. They express protocol.md's tables: presence,
// types, enumerations and forms. Blank strings, timestamps and
// evidence are rules of their own, with better messages.
//
//go:embed *.json
var schemaFiles embed.FS

// schemas are the schemas of the artifacts.
var schemas = sync.OnceValue(func() map[small.Artifact]func() *Schema {
	out := map[small.Artifact]func() *Schema{}
	for _, a := range small.Artifacts {
		if a.Canonical() {
			out[a] = Of(artifactText(a), artifactForms)
		}
	}
	return out
})

// Extensions are further keys that an entry may have if the configuration allows
// them. Their values are strings that are not blank.
var Extensions = []string{"agent_id"}

// extended is the schema of progress that allows every extension.
var extended = sync.OnceValue(func() *Schema { return Of(extendedText(), artifactForms)() })

func extendedText() []byte {
	var schema map[string]any
	if err := json.Unmarshal(artifactText(small.Progress), &schema); err != nil {
		panic(fmt.Sprintf("schema: the schema of progress is no JSON: %v", err))
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
		panic(fmt.Sprintf("schema: the extended schema of progress: %v", err))
	}
	return raw
}

// artifactForms describes, by key, the patterns in the artifacts' schemas.
var artifactForms = map[string]string{
	"replayId":           "64 hex digits",
	"previous_replay_id": "64 hex digits",
	"command_sha256":     "64 lower-case hex digits",
	"commit":             "7 to 40 lower-case hex digits",
	"agent_id":           "an agent's id, which is not blank",
}

func artifactText(a small.Artifact) []byte {
	raw, err := schemaFiles.ReadFile(string(a) + ".json")
	if err != nil {
		panic(fmt.Sprintf("schema: the schema of %s is not embedded: %v", a, err))
	}
	return raw
}

// CheckArtifact judges a canonical artifact by its schema. allowed are the extensions
// that entries may have. For any other artifact it returns nothing.
func CheckArtifact(a small.Artifact, doc *small.Document, allowed ...string) []small.Problem {
	compiled := schemas()[a]
	if compiled == nil {
		return nil
	}
	schema := compiled()
	if a == small.Progress && len(allowed) > 0 {
		schema = extended()
	}
	return append(schema.Check(doc), findAmbiguous(a, doc.Root)...)
}

// Schema is a compiled JSON Schema (draft-07), with the words for its messages.
type Schema struct {
	root  *node
	forms map[string]string
	// whole stands for the document in messages; empty for "the document".
	whole string
}

// New compiles a JSON Schema. It may have only the keywords that its package's
// TestSchemaKeywords lists: the library ignores keywords that it does not know, and
// values are judged one by one. forms describes patterns, by key.
func New(raw []byte, forms map[string]string) (*Schema, error) {
	var schema map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&schema); err != nil {
		return nil, err
	}
	root, err := newNode(schema)
	return &Schema{root: root, forms: forms}, err
}

// Of returns a function that compiles one of the program's own schemas on its first call. It panics if the schema does not compile.
func Of(raw []byte, forms map[string]string) func() *Schema {
	return sync.OnceValue(func() *Schema {
		schema, err := New(raw, forms)
		if err != nil {
			panic(fmt.Sprintf("a schema does not compile: %v\n%s", err, raw))
		}
		return schema
	})
}

// Check judges a document. It returns the problems in the order of the file, at most
// maxProblems and one that says that there are more.
func (s *Schema) Check(doc *small.Document) []small.Problem {
	c := &check{schema: s, root: doc.Root, fits: map[*node]*small.Value{}}
	c.value(s.root, doc.Root, make([]string, 0, 8)) // deep enough for every artifact
	slices.SortStableFunc(c.problems, func(x, y small.Problem) int {
		return cmp.Or(cmp.Compare(x.Pos.Line, y.Pos.Line), cmp.Compare(x.Pos.Column, y.Pos.Column))
	})
	return c.problems
}

// maxProblems is the largest number of problems that are listed of a document. It is
// large, because a baseline may accept the first thousands.
const maxProblems = 50_000

// check applies one schema to one document.
type check struct {
	schema   *Schema
	root     *small.Value
	problems []small.Problem
	// fits maps a node to the last value that fit it.
	fits map[*node]*small.Value
}

func (c *check) add(path []string, v *small.Value, e gojsonschema.ResultError) {
	switch n := len(c.problems); {
	case n < maxProblems:
		c.problems = append(c.problems, c.schema.problem(path, v, e))
	case n == maxProblems:
		// Reported for the document, so that a baseline for entries does not accept
		// what is not listed.
		c.problems = append(c.problems, small.Problem{
			Kind: small.ProblemSchema, Pos: c.root.Pos,
			Message: fmt.Sprintf("more than %d problems; the others are not listed", maxProblems),
		})
	}
}
