package small

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/small-gate/small-gate/internal/wording"
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

// NewSchema compiles a JSON Schema. It refuses a keyword that it does not
// enforce. forms says by key what a pattern asks for.
func NewSchema(raw []byte, forms map[string]string) (*Schema, error) {
	root, err := compileSchema(raw)
	if err != nil {
		return nil, err
	}
	return &Schema{root: root, forms: forms}, nil
}

// Check judges a document. It returns the problems in the order of the file;
// where there are very many it lists some tens of thousands, and says so.
func (s *Schema) Check(doc *Document) []Problem {
	if wide := tooWide(doc.Root, nil); wide != nil {
		return []Problem{*wide}
	}
	c := &schemaCheck{schema: s, root: doc.Root, matched: map[*schemaNode]string{}}
	c.judgeAll()
	slices.SortStableFunc(c.problems, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.Pos.Line, y.Pos.Line), cmp.Compare(x.Pos.Column, y.Pos.Column))
	})
	return c.problems
}

// schemaCheck applies one schema to one document. Of the lists at the
// document's top level, it judges a part at a time, until there are too many
// problems.
type schemaCheck struct {
	schema   *Schema
	root     *Value
	problems []Problem
	// matched is the last text that had a node's pattern.
	matched map[*schemaNode]string
}

func (c *schemaCheck) add(at *place, v *Value, f fault) {
	c.problems = append(c.problems, c.schema.problem(at.path(), v, f))
}

func (c *schemaCheck) judgeAll() {
	root := c.schema.root
	c.value(root, c.root, nil)
	for _, f := range c.root.Fields {
		items, n := f.Value.Items, root.member(f.Key)
		for from := partEnd(items, 0); from < len(items); {
			if len(c.problems) > maxSchemaProblems {
				// Said of the document, not of the item: nothing that
				// excuses an entry may excuse what was not examined.
				c.problems = append(c.problems, Problem{
					Kind: ProblemSchema, Pos: c.root.Pos,
					Message: fmt.Sprintf("more than %d problems; %s and what follows it is not examined", maxSchemaProblems, describe([]string{f.Key, strconv.Itoa(from)})),
				})
				return
			}
			to := partEnd(items, from)
			if n != nil && n.allows(f.Value) {
				c.items(n, f.Value, &place{key: f.Key}, from, to)
			}
			from = to
		}
	}
}

// partSize is about how many values are judged at once.
const partSize = 10_000

// partEnd returns the end of the part of a list that begins at index from.
func partEnd(items []*Value, from int) int {
	size := 0
	for i, item := range items[from:] {
		if size += item.count(); size > partSize && i > 0 {
			return from + i
		}
	}
	return len(items)
}

// tooWide finds a list below the top level, or a mapping, with more members
// than any file that is judged by a schema has a use for. As nothing else is
// said of such a file, this is said of the document, not of a part of it.
func tooWide(v *Value, path []string) *Problem {
	members, most, what := len(v.Items), maxItems, "items"
	if v.Kind == Map {
		members, most, what = len(v.Fields), maxKeys, "keys"
	}
	if members > most && (v.Kind == Map || len(path) > 1) {
		return &Problem{
			Kind: ProblemSchema, Pos: v.Pos,
			Message: fmt.Sprintf("%s has %d %s; at most %d are expected, and the file is not examined further", describe(path), members, what, most),
		}
	}
	for i, item := range v.Items {
		if item.leaf() {
			continue
		}
		if p := tooWide(item, append(path, strconv.Itoa(i))); p != nil {
			return p
		}
	}
	for i := range v.Fields {
		f := &v.Fields[i]
		if f.Value.leaf() {
			continue
		}
		if p := tooWide(f.Value, append(path, wording.Clip(f.Key))); p != nil {
			return p
		}
	}
	return nil
}
