package small

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/xeipuuv/gojsonschema"

	"github.com/small-gate/small-gate/internal/wording"
)

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
		p.Message = fmt.Sprintf("unknown key %q in %s", wording.Clip(key), name)
		p.Subject = join(p.Subject, wording.Clip(key))
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
		p.Message = fmt.Sprintf("%s is empty; fill it in or leave the key out", name)
	case "pattern":
		form := s.forms[path[len(path)-1]]
		switch {
		case form == "" && fmt.Sprint(details["pattern"]) == `\S`:
			form = "a text that is not blank"
		case form == "":
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
	"phases": "phase", "subagents": "subagent", "tools": "tool",
	"workflowPathHistory": "switch", "campaignChildren": "child", "dependsOn": "dependency", "contracts": "contract",
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
		switch at.Tag {
		case timestampTag, intTag, floatTag, boolTag:
			return fmt.Sprintf("%s is %s without quotes, which YAML reads as %s; %s is expected", name, wording.Clip(at.Text), at.readAs(), wanted),
				fmt.Sprintf("quote it: %q", wording.Clip(at.Text))
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
	parts := strings.Split(strings.Trim(expected, "[]"), ",") // "string" or "[string,object]"
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
		return strconv.Quote(wording.Clip(v.Text))
	case Number:
		return wording.Clip(v.Text)
	}
	return v.Kind.String()
}
