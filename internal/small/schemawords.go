package small

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/secret"
	"github.com/small-gate/small-gate/internal/wording"
)

// fault is what a schema finds at a value. detail is the key, the types, the
// alternatives, the pattern or the bound.
type fault struct{ what, detail string }

const (
	faultRequired = "required"
	faultUnknown  = "unknown"
	faultType     = "type"
	faultEnum     = "enum"
	faultItems    = "items"
	faultLength   = "length"
	faultPattern  = "pattern"
	faultLeast    = "least"
	faultMost     = "most"
)

// problem says in plain words what is wrong at a path, where the value at
// stands.
func (s *Schema) problem(path []string, at *Value, e fault) Problem {
	shown := *at
	shown.Text, _ = secret.MaskKind(strings.Join(path, "."), at.Text) // its name alone may tell that it is a credential
	at = &shown
	p := Problem{Kind: ProblemSchema, Pos: at.Pos, Subject: strings.Join(path, ".")}
	name := describe(path)
	switch e.what {
	case faultRequired:
		p.Message = fmt.Sprintf("%s lacks the key %q", name, e.detail)
		p.Subject = join(p.Subject, e.detail)
	case faultUnknown:
		p.Message = fmt.Sprintf("unknown key %q in %s", wording.Clip(e.detail), name)
		p.Subject = join(p.Subject, wording.Clip(e.detail))
	case faultType:
		p.Message, p.Hint = typeMessage(name, e.detail, at)
	case faultEnum:
		p.Message = fmt.Sprintf("%s is %s; expected %s", name, quoted(at), e.detail)
	case faultItems:
		p.Message = fmt.Sprintf("%s is empty; at least one item is expected", name)
	case faultLength:
		p.Message = fmt.Sprintf("%s is empty; fill it in or leave the key out", name)
	case faultPattern:
		form := s.forms[path[len(path)-1]]
		switch {
		case form == "" && e.detail == `\S`:
			form = "a text that is not blank"
		case form == "":
			form = "another form"
		}
		p.Message = fmt.Sprintf("%s is %s; expected %s", name, quoted(at), form)
	case faultLeast:
		p.Message = fmt.Sprintf("%s is %s; at least %s is expected", name, quoted(at), e.detail)
	case faultMost:
		p.Message = fmt.Sprintf("%s is %s; at most %s is expected", name, quoted(at), e.detail)
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
	parts := strings.Split(expected, ",")
	for i, p := range parts {
		if w := words[p]; w != "" {
			parts[i] = w
		}
	}
	return strings.Join(parts, " or ")
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
