package small

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/xeipuuv/gojsonschema"

	"github.com/small-gate/small-gate/internal/wording"
)

// The schemas are draft-07 and use only keywords that the engine enforces;
// TestSchemaKeywords holds that. What they say is protocol.md's tables:
// presence, types, enumerations and forms. Blank strings, timestamps and
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
		out[a] = sync.OnceValue(func() *Schema { return artifactSchema(a, schemaText(a)) })
	}
	return out
}()

// Extensions are the keys that an entry may have beside the protocol's, where
// somebody allows them by name. Each is a string that is not blank.
var Extensions = []string{"agent_id"}

// extended is the schema of progress with every extension allowed.
var extended = sync.OnceValue(func() *Schema {
	var schema map[string]any
	if err := json.Unmarshal(schemaText(Progress), &schema); err != nil {
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
	return artifactSchema(Progress, raw)
})

// artifactForms says what the artifacts' patterns ask for.
var artifactForms = map[string]string{
	"replayId":           "64 hex digits",
	"previous_replay_id": "64 hex digits",
	"command_sha256":     "64 lower-case hex digits",
	"commit":             "7 to 40 lower-case hex digits",
	"agent_id":           "an agent's id, which is not blank",
}

func schemaText(a Artifact) []byte {
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
	compiled *gojsonschema.Schema
	forms    map[string]string
	shapes   map[string]*plainShape
}

// NewSchema compiles a JSON Schema. forms says by key what a pattern asks for.
//
// The items of a list at the document's top level must be judged by one schema
// each, without keywords that look at several items (maxItems, uniqueItems,
// contains): such a list is judged in parts.
func NewSchema(raw []byte, forms map[string]string) (*Schema, error) {
	compiled, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(raw))
	if err != nil {
		return nil, err
	}
	return &Schema{compiled: compiled, forms: forms, shapes: plainShapes(raw)}, nil
}

// Check judges a document. It returns the problems in the order of the file;
// where there are very many it lists some tens of thousands, and says so.
func (s *Schema) Check(doc *Document) []Problem {
	if wide := tooWide(doc.Root, nil); wide != nil {
		return []Problem{*wide}
	}
	c := &schemaCheck{schema: s, root: doc.Root, members: finder{}, matched: map[*textForm]string{}}
	c.judgeAll()
	slices.SortStableFunc(c.problems, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.Pos.Line, y.Pos.Line), cmp.Compare(x.Pos.Column, y.Pos.Column))
	})
	return c.problems
}

// schemaCheck applies one schema to one document. The engine collects every
// error of what it is given, so it is given the lists of the document's top
// level in parts.
type schemaCheck struct {
	schema   *Schema
	root     *Value
	members  finder
	problems []Problem
	matched  map[*textForm]string
}

func (c *schemaCheck) judgeAll() {
	first := make(map[string]any, len(c.root.Fields))
	indexes := map[string][]int{}
	for _, f := range c.root.Fields {
		if f.Value.Kind == List {
			first[f.Key], indexes[f.Key] = c.unknown(f, 0, partEnd(f.Value.Items, 0))
		} else {
			first[f.Key] = f.Value.plain()
		}
	}
	c.judge(first, "", indexes)
	for _, f := range c.root.Fields {
		items := f.Value.Items
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
			if rest, index := c.unknown(f, from, to); len(rest) > 0 {
				c.judge(map[string]any{f.Key: rest}, f.Key, map[string][]int{f.Key: index})
			}
			from = to
		}
	}
}

// unknown returns the items of a part of a list that are not known to fit, and
// their indexes.
func (c *schemaCheck) unknown(f Field, from, to int) (items []any, index []int) {
	items = []any{}
	shape := c.schema.shapes[f.Key]
	for i, item := range f.Value.Items[from:to] {
		if !shape.fits(item, c.matched) {
			items, index = append(items, item.plain()), append(index, from+i)
		}
	}
	return items, index
}

// judge runs the engine. indexes has the items' indexes in the lists of the
// document's top level. With a key, part holds a later part of that list and
// nothing else, and only what is said of the items counts.
func (c *schemaCheck) judge(part map[string]any, key string, indexes map[string][]int) {
	result, err := c.schema.compiled.Validate(gojsonschema.NewRawLoader(part))
	if err != nil {
		c.problems = append(c.problems, Problem{Kind: ProblemSchema, Pos: c.root.Pos, Message: fmt.Sprintf("the schema could not be applied: %v", err)})
		return
	}
	for _, e := range result.Errors() {
		path := contextPath(e.Context())
		if key != "" && (len(path) < 2 || path[0] != key) {
			continue
		}
		if len(path) > 1 {
			if i, err := strconv.Atoi(path[1]); err == nil && i < len(indexes[path[0]]) {
				path[1] = strconv.Itoa(indexes[path[0]][i])
			}
		}
		c.problems = append(c.problems, c.schema.problem(path, c.members.at(c.root, path), c.members, e))
	}
}

// contextPath turns the engine's "(root).tasks.2" into its steps: list indexes
// and keys. A key of the file that a schema names by additionalProperties only
// may hold anything, so the separator is one that no such key is likely to.
func contextPath(c *gojsonschema.JsonContext) []string {
	const separator = "\x00/\x00"
	return strings.Split(c.String(separator), separator)[1:]
}

// partSize is about how many values the engine is given at once.
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

// finder looks members of mappings up by their keys. It indexes a mapping on
// first use, so that a file which is wrong in a hundred thousand places is
// judged in a time that grows with their number, not with its square.
type finder map[*Value]map[string]*Field

func (f finder) field(v *Value, key string) *Field {
	index := f[v]
	if index == nil {
		index = make(map[string]*Field, len(v.Fields))
		for i := range v.Fields {
			index[v.Fields[i].Key] = &v.Fields[i]
		}
		f[v] = index
	}
	return index[key]
}

// at follows a path that the engine names, as far as it exists.
func (f finder) at(v *Value, path []string) *Value {
	for _, step := range path {
		if v.Kind == Map {
			member := f.field(v, step)
			if member == nil {
				return v
			}
			v = member.Value
			continue
		}
		item := v.At([]string{step})
		if item == v {
			return v
		}
		v = item
	}
	return v
}
