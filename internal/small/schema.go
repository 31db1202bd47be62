package small

import (
	"embed"
	"fmt"
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
var schemas = func() map[Artifact]func() *gojsonschema.Schema {
	out := map[Artifact]func() *gojsonschema.Schema{}
	for _, a := range Artifacts {
		if !a.Canonical() {
			continue
		}
		out[a] = sync.OnceValue(func() *gojsonschema.Schema { return compileSchema(a) })
	}
	return out
}()

func compileSchema(a Artifact) *gojsonschema.Schema {
	raw, err := schemaFiles.ReadFile("schema/" + string(a) + ".json")
	if err != nil {
		panic(fmt.Sprintf("small: the schema of %s is not embedded: %v", a, err))
	}
	schema, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(raw))
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
	result, err := compiled().Validate(gojsonschema.NewGoLoader(doc.Root.plain()))
	if err != nil {
		return []Problem{{Kind: ProblemSchema, Pos: doc.Root.Pos, Message: fmt.Sprintf("the schema could not be applied: %v", err)}}
	}
	problems := make([]Problem, 0, len(result.Errors()))
	for _, e := range result.Errors() {
		problems = append(problems, schemaProblem(doc, e))
	}
	slices.SortStableFunc(problems, func(x, y Problem) int {
		if x.Pos.Line != y.Pos.Line {
			return x.Pos.Line - y.Pos.Line
		}
		return x.Pos.Column - y.Pos.Column
	})
	return problems
}

// schemaProblem says in plain words what the engine found, and where.
func schemaProblem(doc *Document, e gojsonschema.ResultError) Problem {
	path := contextPath(e.Context())
	at := doc.Root.At(path)
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
		p.Message = fmt.Sprintf("%s has the key %q, which the protocol does not know there", name, key)
		p.Subject = join(p.Subject, key)
		for _, f := range at.Fields {
			if f.Key == key {
				p.Pos = f.KeyPos
			}
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
		p.Message = fmt.Sprintf("%s is %s; expected %s", name, quoted(at), patternWords(path))
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

// patternWords says what the pattern at a path means.
func patternWords(path []string) string {
	switch path[len(path)-1] {
	case "replayId", "previous_replay_id":
		return "64 hex digits"
	case "command_sha256":
		return "64 lower-case hex digits"
	case "commit":
		return "7 to 40 lower-case hex digits"
	}
	return "another form"
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
	if v.Kind == String {
		return strconv.Quote(clip(v.Text))
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
