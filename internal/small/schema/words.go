package schema

import (
	"cmp"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/xeipuuv/gojsonschema"

	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

// maxAllowed is the largest number of allowed values that a message lists.
const maxAllowed = 20

// problem makes a problem of what the library finds at a path. at is the value there.
func (s *Schema) problem(path []string, at *small.Value, e gojsonschema.ResultError) small.Problem {
	shown := *at
	shown.Text, _ = secret.MaskKind(strings.Join(path, "."), at.Text) // the field's name alone may show that it is a credential
	shown.Plain = at.Plain && s.whole == ""                           // no hints about YAML's quotes for a repository's own log, which may be JSON
	at = &shown
	p := small.Problem{Kind: small.ProblemSchema, Pos: at.Pos, Subject: strings.Join(path, ".")}
	name := describe(path)
	if len(path) == 0 {
		name = cmp.Or(s.whole, name)
	}
	detail := func(of string) string {
		if bound, ok := e.Details()[of].(*big.Float); ok {
			return bound.Text('f', -1)
		}
		return fmt.Sprint(e.Details()[of])
	}
	switch e.(type) {
	case *gojsonschema.RequiredError:
		p.Message = fmt.Sprintf("%s lacks the key %s", name, wording.Quote(detail("property")))
		p.Subject = join(p.Subject, detail("property"))
	case *gojsonschema.AdditionalPropertyNotAllowedError:
		p.Message = fmt.Sprintf("unknown key %s in %s", wording.Quote(detail("property")), name)
		p.Subject = join(p.Subject, wording.Clip(detail("property")))
	case *gojsonschema.InvalidTypeError:
		p.Message, p.Hint = typeMessage(name, strings.Trim(detail("expected"), "[]"), at)
	case *gojsonschema.EnumError:
		p.Message = fmt.Sprintf("%s is %s; expected %s", name, quoted(at), allowedWords(detail("allowed")))
	case *gojsonschema.ConstError:
		p.Message = fmt.Sprintf("%s is %s; expected %s", name, quoted(at), wording.Clip(detail("allowed")))
	case *gojsonschema.DoesNotMatchFormatError:
		p.Message = fmt.Sprintf("%s is %s; expected the format %s", name, quoted(at), wording.Clip(detail("format")))
	case *gojsonschema.DoesNotMatchPatternError:
		p.Message = fmt.Sprintf("%s is %s; expected %s", name, quoted(at), s.form(path, detail("pattern")))
	case *gojsonschema.ArrayMinItemsError, *gojsonschema.StringLengthGTEError, *gojsonschema.NumberGTEError, *gojsonschema.NumberLTEError:
		p.Message = boundMessage(name, at, e, detail)
	default:
		p.Message = name + " does not fit the schema"
		if s.whole != "" {
			p.Message = fmt.Sprintf("%s: %s", name, wording.Clip(strings.ToLower(e.Description()[:1])+e.Description()[1:]))
		}
	}
	return p
}

// form describes a pattern.
func (s *Schema) form(path []string, pattern string) string {
	if s.whole != "" {
		return "a text that matches " + wording.Clip(pattern)
	}
	form := s.forms[path[len(path)-1]]
	switch {
	case form == "" && pattern == `\S`:
		return "a text that is not blank"
	case form == "":
		return "another form"
	}
	return form
}

// allowedWords lists the values of an enumeration.
func allowedWords(all string) string {
	allowed := strings.Split(all, ", ")
	for i := range allowed {
		allowed[i] = wording.Clip(allowed[i])
	}
	if len(allowed) > maxAllowed {
		allowed = append(allowed[:maxAllowed], "others")
	}
	return wording.List(allowed, "or")
}

// boundMessage says that a value is too short, too small or too large.
func boundMessage(name string, at *small.Value, e gojsonschema.ResultError, detail func(of string) string) string {
	switch e.(type) {
	case *gojsonschema.ArrayMinItemsError:
		if len(at.Items) > 0 || detail("min") != "1" {
			return fmt.Sprintf("%s has %s; at least %s are expected", name, wording.Count(len(at.Items), "item"), detail("min"))
		}
		return name + " is empty; at least one item is expected"
	case *gojsonschema.StringLengthGTEError:
		if at.Text != "" {
			return fmt.Sprintf("%s is %s; at least %s characters are expected", name, quoted(at), detail("min"))
		}
		return name + " is empty; fill it in or leave the key out"
	case *gojsonschema.NumberGTEError:
		return fmt.Sprintf("%s is %s; at least %s is expected", name, quoted(at), detail("min"))
	}
	return fmt.Sprintf("%s is %s; at most %s is expected", name, quoted(at), detail("max"))
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
	name := wording.Quote(last)
	for i := len(path) - 2; i > 0; i-- {
		if n, err := strconv.Atoi(path[i]); err == nil {
			return fmt.Sprintf("%s of %s %d", name, singular(path[i-1]), n+1)
		}
	}
	if len(path) > 1 {
		return fmt.Sprintf("%s of %s", name, wording.Quote(path[len(path)-2]))
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
	return wording.Quote(key) + " item"
}

// typeMessage explains a wrong type. The most common mistake is a text without quotes
// that YAML reads as something else.
func typeMessage(name, expected string, at *small.Value) (message, hint string) {
	wanted := typeWords(expected)
	if at.Plain && strings.Contains(expected, "string") {
		switch at.Tag {
		case small.TimestampTag, small.IntTag, small.FloatTag, small.BoolTag:
			return fmt.Sprintf("%s is %s without quotes, which YAML reads as %s; %s is expected", name, wording.Clip(at.Text), readAs(at), wanted),
				fmt.Sprintf("quote it: %q", wording.Clip(at.Text))
		}
	}
	if at.Kind == small.Null {
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

func quoted(v *small.Value) string {
	switch v.Kind {
	case small.String:
		return strconv.Quote(wording.Clip(v.Text))
	case small.Number:
		return wording.Clip(v.Text)
	}
	return v.Kind.String()
}

// readAs says, for messages, as what YAML reads a scalar.
func readAs(v *small.Value) string {
	switch v.Tag {
	case small.TimestampTag:
		return "a date"
	case small.BinaryTag:
		return "binary data"
	case small.FloatTag:
		return "a number"
	}
	if v.Kind == small.Null {
		return "empty"
	}
	return v.Kind.String()
}
