package policy

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/schema"
)

// MaxSize is the largest configuration that is read, in bytes: 1 MiB, which
// holds about three thousand waivers.
const MaxSize = 1 << 20

// version is the one version of the format that exists.
const version = 1

// Parse reads a configuration. Source says where the bytes come from, for
// reports and errors; known are the rules and sections that there are.
//
// Reading is strict: whatever is unknown, misspelt, of a wrong type or
// malformed is an error, since people would rely on a setting that does
// nothing. The error is an *InvalidError that holds every problem. What the file
// leaves out is as in Default; a list or mapping of patterns that it gives
// replaces the default one.
//
// The schemas of logs are not read, so that no log can be judged by one: see [ParseWhole].
func Parse(source string, data []byte, known *Known) (*Policy, error) {
	return parse(source, data, known, nil, nil)
}

// ParseWhole is Parse for a configuration to judge by: schemas are where those of its logs are read. One that is missing, or cannot be used, is
// a problem of the stanza that names it.
func ParseWhole(source string, data []byte, known *Known, schemas *SchemaFiles) (*Policy, error) {
	return parse(source, data, known, nil, schemas)
}

// Rule is what a configuration has to know about a rule.
type Rule struct {
	ID string
	// Edit is what a finding says was done to a log.
	Edit ledger.EditEffect
}

// Known is what a configuration has to know about the gate: which rules there are, and the sections of families.
type Known struct {
	ids        []string
	effects    map[string]ledger.EditEffect
	sections   []Section
	text       func() []byte
	schema     func() *schema.Schema
	vocabulary func() *schemaNode
}

// NewKnown knows some rules and sections.
func NewKnown(rules []Rule, sections []Section) *Known {
	k := &Known{effects: map[string]ledger.EditEffect{}, sections: sections}
	for _, r := range rules {
		k.ids = append(k.ids, r.ID)
		k.effects[r.ID] = r.Edit
	}
	// Most commits change no configuration, and need none of these.
	k.text = sync.OnceValue(func() []byte {
		text := schemaText
		for _, s := range sections {
			text = bytes.Replace(text, []byte(`"properties": {`), []byte(`"properties": {"`+s.Key+`": `+s.Schema+`,`), 1)
		}
		return text
	})
	k.schema = sync.OnceValue(func() *schema.Schema { return schema.Of(k.text(), forms)() })
	k.vocabulary = sync.OnceValue(func() *schemaNode { return vocabularyOf(k.text()) })
	return k
}

// Schema is the configuration's schema, with those of the sections.
func (k *Known) Schema() []byte { return k.text() }

// parse reads a configuration; floor, if not nil, is the floor that is made of it.
func parse(source string, data []byte, known *Known, floor *Floor, schemas *SchemaFiles) (*Policy, error) {
	r := &reader{known: known, reported: map[location]bool{}, schemas: schemas}
	doc, problems := small.Parse(data, small.Limits{MaxFileSize: MaxSize})
	if doc == nil {
		for _, p := range problems {
			r.problems = append(r.problems, unreadable(p, len(data)))
		}
		return nil, &InvalidError{Source: source, Problems: r.problems}
	}
	if floor != nil {
		floor.takeForbid(r, doc.Root)
	}
	textDays(doc.Root)
	for _, p := range known.schema().Check(doc) {
		r.schemaProblem(doc, p)
	}
	r.strict(doc.Root, "")
	p := Default()
	r.onto(p, doc.Root)
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int {
			return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
		})
		return nil, &InvalidError{Source: source, Problems: r.problems, Err: r.cause}
	}
	if floor != nil {
		floor.given = r.given
	}
	p.Source = source
	return p, nil
}

// unreadable is the problem of a file that is not a document, in words for a
// configuration rather than for a log.
func unreadable(p small.Problem, size int) Problem {
	out := Problem{Pos: p.Pos, Subject: p.Subject, Message: p.Message, Hint: p.Hint}
	switch {
	case p.Kind == small.ProblemTooLarge && size > MaxSize:
		out.Message = fmt.Sprintf("the file has %d bytes, the limit is %d", size, MaxSize)
		out.Hint = "a baseline accepts a whole log in one stanza"
	case p.Kind == small.ProblemTooLarge:
		out.Hint = ""
	case p.Kind == small.ProblemNotAFile:
		out.Hint = "remove " + File + " from the LFS patterns in .gitattributes and commit the file itself"
	case p.Kind == small.ProblemDocuments:
		out.Message = "a second YAML document begins here; a configuration is exactly one"
	case strings.Contains(p.Message, "conflict marker"):
		out.Hint = "resolve the conflict and remove the markers"
	case size == 0 || strings.Contains(p.Message, "is empty"):
		out.Hint = fmt.Sprintf("write version: %d, or remove the file", version)
	}
	out.Pos = small.Pos{Line: max(p.Pos.Line, 1), Column: max(p.Pos.Column, 1)}
	return out
}

// textDays makes text of days that waivers have without quotes, which YAML reads
// as dates, so that the schema can say that a day is text.
func textDays(root *small.Value) {
	list := root.Get("waivers")
	if list == nil {
		return
	}
	for _, item := range list.Items {
		if day := item.Get("until"); day != nil && day.Kind == small.Other && day.Tag == small.TimestampTag {
			day.Kind = small.String
		}
	}
}

// schemaProblem takes over what the schema found.
func (r *reader) schemaProblem(doc *small.Document, p small.Problem) {
	out := Problem{Pos: p.Pos, Subject: p.Subject, Message: p.Message, Hint: p.Hint}
	if len(r.problems) < maxAdvised {
		out.Suggestion, out.Hint = r.known.advice(p.Subject, p.Hint, find(doc.Root, p.Subject))
	}
	if p.Subject == "version" {
		out.Hint = fmt.Sprintf("write version: %d; it is the only one that this program reads", version)
	}
	r.reported[location{p.Pos, p.Subject}] = true
	r.problems = append(r.problems, out)
}
