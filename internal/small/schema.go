package small

import (
	"embed"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/xeipuuv/gojsonschema"
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
		out[a] = sync.OnceValue(func() *Schema { return artifactSchema(a) })
	}
	return out
}()

// artifactForms says what the artifacts' patterns ask for.
var artifactForms = map[string]string{
	"replayId":           "64 hex digits",
	"previous_replay_id": "64 hex digits",
	"command_sha256":     "64 lower-case hex digits",
	"commit":             "7 to 40 lower-case hex digits",
}

func artifactSchema(a Artifact) *Schema {
	raw, err := schemaFiles.ReadFile("schema/" + string(a) + ".json")
	if err != nil {
		panic(fmt.Sprintf("small: the schema of %s is not embedded: %v", a, err))
	}
	schema, err := NewSchema(raw, "the protocol", artifactForms)
	if err != nil {
		panic(fmt.Sprintf("small: the schema of %s does not compile: %v", a, err))
	}
	return schema
}

// CheckSchema judges a canonical artifact by its schema. For any other
// artifact it returns nothing.
func CheckSchema(a Artifact, doc *Document) []Problem {
	compiled := schemas[a]
	if compiled == nil {
		return nil
	}
	return compiled().Check(doc)
}

// Schema is a compiled JSON Schema (draft-07), with the words in which it
// reports.
type Schema struct {
	compiled *gojsonschema.Schema
	author   string
	forms    map[string]string
}

// NewSchema compiles a JSON Schema. Author says who decides which keys there
// are, such as "the protocol"; forms says by key what a pattern asks for.
func NewSchema(raw []byte, author string, forms map[string]string) (*Schema, error) {
	compiled, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(raw))
	if err != nil {
		return nil, err
	}
	return &Schema{compiled: compiled, author: author, forms: forms}, nil
}

// Check judges a document. It returns all problems, in the order of the file.
func (s *Schema) Check(doc *Document) []Problem {
	result, err := s.compiled.Validate(gojsonschema.NewGoLoader(doc.Root.plain()))
	if err != nil {
		return []Problem{{Kind: ProblemSchema, Pos: doc.Root.Pos, Message: fmt.Sprintf("the schema could not be applied: %v", err)}}
	}
	problems := make([]Problem, 0, len(result.Errors()))
	members := finder{}
	for _, e := range result.Errors() {
		path := contextPath(e.Context())
		problems = append(problems, s.problem(path, members.at(doc.Root, path), members, e))
	}
	slices.SortStableFunc(problems, func(x, y Problem) int {
		if x.Pos.Line != y.Pos.Line {
			return x.Pos.Line - y.Pos.Line
		}
		return x.Pos.Column - y.Pos.Column
	})
	return problems
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

// problem says in plain words what the engine found at a path, where the value
// at stands.
func (s *Schema) problem(path []string, at *Value, members finder, e gojsonschema.ResultError) Problem {
	p := Problem{Kind: ProblemSchema, Pos: at.Pos, Subject: strings.Join(path, ".")}
	name := describe(path)
	details := e.Details()
	switch e.Type() {
	case "required":
		key := fmt.Sprint(details["property"])
		p.Message = fmt.Sprintf("%s lacks the key %q", name, key)
		p.Subject = join(p.Subject, key)
	case "additional_property_not_allowed":
		key := fmt.Sprint(details["property"])
		p.Message = fmt.Sprintf("%s has the key %q, which %s does not know there", name, key, s.author)
		p.Subject = join(p.Subject, key)
		if f := members.field(at, key); f != nil {
			p.Pos = f.KeyPos
		}
	case "invalid_type":
		p.Message, p.Hint = typeMessage(name, fmt.Sprint(details["expected"]), at)
	case "enum":
		p.Message = fmt.Sprintf("%s is %s; expected %s", name, quoted(at), alternatives(fmt.Sprint(details["allowed"])))
	case "array_min_items":
		p.Message = fmt.Sprintf("%s is empty; at least one item is expected", name)
	case "string_gte":
		p.Message = fmt.Sprintf("%s is empty; leave the key out or say something", name)
	case "pattern":
		form := s.forms[path[len(path)-1]]
		if form == "" {
			form = "another form"
		}
		p.Message = fmt.Sprintf("%s is %s; expected %s", name, quoted(at), form)
	case "number_gte":
		p.Message = fmt.Sprintf("%s is %s; at least %s is expected", name, quoted(at), bound(details["min"]))
	case "number_lte":
		p.Message = fmt.Sprintf("%s is %s; at most %s is expected", name, quoted(at), bound(details["max"]))
	default:
		p.Message = fmt.Sprintf("%s does not fit the schema: %s", name, e.Description())
	}
	return p
}

// contextPath turns the engine's "(root).tasks.2" into its steps.
func contextPath(c *gojsonschema.JsonContext) []string {
	const separator = "\x00" // no key of a parsed document holds it
	steps := strings.Split(c.String(separator), separator)
	return steps[1:]
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// describe names a place for people: entries.3.status is `"status" of entry 4`.
func describe(path []string) string {
	if len(path) == 0 {
		return "the document"
	}
	last := path[len(path)-1]
	if i, err := strconv.Atoi(last); err == nil && len(path) > 1 {
		return fmt.Sprintf("%s %d", singular(path[len(path)-2]), i+1)
	}
	name := strconv.Quote(last)
	for i := len(path) - 2; i > 0; i-- {
		if n, err := strconv.Atoi(path[i]); err == nil {
			return fmt.Sprintf("%s of %s %d", name, singular(path[i-1]), n+1)
		}
	}
	if len(path) > 1 {
		return fmt.Sprintf("%s of %q", name, path[len(path)-2])
	}
	return name
}

var singulars = map[string]string{
	"entries": "entry", "tasks": "task", "constraints": "constraint", "links": "link",
	"steps": "step", "next_steps": "next step", "include": "include item",
	"exclude": "exclude item", "success_criteria": "success criterion", "acceptance": "acceptance criterion",
	"waivers": "waiver", "authors": "author pattern",
}

func singular(key string) string {
	if s := singulars[key]; s != "" {
		return s
	}
	return strconv.Quote(key) + " item"
}

// typeMessage explains a wrong type. A value that YAML reads as something else
// because it lacks quotes is the most common mistake.
func typeMessage(name, expected string, at *Value) (message, hint string) {
	wanted := typeWords(expected)
	if at.Plain && strings.Contains(expected, "string") {
		read := map[string]string{
			"!!timestamp": "a date", intTag: "a number", floatTag: "a number", boolTag: "a boolean",
		}[at.Tag]
		if read != "" {
			return fmt.Sprintf("%s is %s without quotes, which YAML reads as %s; %s is expected", name, clip(at.Text), read, wanted),
				fmt.Sprintf("quote it: %q", clip(at.Text))
		}
	}
	if at.Kind == Null {
		return fmt.Sprintf("%s has no value; %s is expected", name, wanted), ""
	}
	return fmt.Sprintf("%s is %s; %s is expected", name, at.Kind, wanted), ""
}

func typeWords(expected string) string {
	words := map[string]string{
		"string": "a string", "object": "a mapping", "array": "a list", "null": "null",
		"boolean": "true or false", "integer": "a whole number", "number": "a number",
	}
	parts := strings.Split(expected, "/")
	for i, p := range parts {
		if w := words[p]; w != "" {
			parts[i] = w
		}
	}
	return strings.Join(parts, " or ")
}

// bound writes a limit of the schema in full: 1073741824, not 1.07e+09.
func bound(limit any) string {
	if f, ok := limit.(*big.Float); ok {
		return f.Text('f', -1)
	}
	return fmt.Sprint(limit)
}

// alternatives turns the engine's `"a", "b"` into `"a" or "b"`.
func alternatives(list string) string {
	parts := strings.Split(list, ", ")
	if len(parts) < 2 {
		return list
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " or " + parts[len(parts)-1]
}

func quoted(v *Value) string {
	switch v.Kind {
	case String:
		return strconv.Quote(clip(v.Text))
	case Number:
		return clip(v.Text)
	}
	return v.Kind.String()
}

// clip shortens a text for a message.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
