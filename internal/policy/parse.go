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

// MaxSize is the size in bytes of the largest configuration that is read: 1 MiB,
// room for about three thousand waivers.
const MaxSize = 1 << 20

// version is the only version of the format.
const version = 1

// Parse reads a configuration. source says where the bytes come from, for
// reports and errors; known are the existing rules and sections.
//
// Anything unknown, misspelt, malformed or of a wrong type is an error, since
// people would rely on a setting that does nothing. The error is an
// *InvalidError that lists every problem. A key that the file leaves out has its
// value in Default; a list or mapping of patterns replaces the default one.
//
// Parse does not read the schemas of logs, so its policy cannot judge entries by them: see [ParseWhole].
func Parse(source string, data []byte, known *Known) (*Policy, error) {
	return parse(source, data, known, nil, nil)
}

// ParseWhole reads a configuration as Parse does, and the schemas of its logs from schemas. A schema that is missing or cannot be used is a
// problem of the stanza that names it.
func ParseWhole(source string, data []byte, known *Known, schemas *SchemaFiles) (*Policy, error) {
	return parse(source, data, known, nil, schemas)
}

// Rule is what reading a configuration has to know about a rule.
type Rule struct {
	ID string
	// Edit is the effect on a log that the rule's findings report.
	Edit ledger.EditEffect
}

// Known is what reading a configuration has to know about the gate: its rules, and the sections of rule families.
type Known struct {
	ids      []string
	effects  map[string]ledger.EditEffect // by rule id
	sections []Section
	// schemaJSON returns the configuration's schema with those of the sections.
	schemaJSON func() []byte
	// schema returns the same schema, compiled.
	schema func() *schema.Schema
	// vocabulary returns the keys and words of the same schema.
	vocabulary func() *schemaNode
}

// NewKnown returns a Known with the given rules and sections.
func NewKnown(rules []Rule, sections []Section) *Known {
	k := &Known{effects: map[string]ledger.EditEffect{}, sections: sections}
	for _, r := range rules {
		k.ids = append(k.ids, r.ID)
		k.effects[r.ID] = r.Edit
	}
	// These are made on first use: most commits change no configuration.
	k.schemaJSON = sync.OnceValue(func() []byte {
		text := schemaText
		for _, s := range sections {
			text = bytes.Replace(text, []byte(`"properties": {`), []byte(`"properties": {"`+s.Key+`": `+s.Schema+`,`), 1)
		}
		return text
	})
	k.schema = sync.OnceValue(func() *schema.Schema { return schema.Of(k.schemaJSON(), forms)() })
	k.vocabulary = sync.OnceValue(func() *schemaNode { return parseVocabulary(k.schemaJSON()) })
	return k
}

// Schema returns the configuration's JSON Schema, with those of the sections.
func (k *Known) Schema() []byte { return k.schemaJSON() }

// parse reads a configuration. If floor is not nil, the configuration is a floor's, and parse sets the floor's fields.
func parse(source string, data []byte, known *Known, floor *Floor, schemas *SchemaFiles) (*Policy, error) {
	r := &reader{known: known, reported: map[location]bool{}, schemas: schemas}
	doc, problems := small.Parse(data, small.Limits{MaxFileSize: MaxSize})
	if doc == nil {
		for _, p := range problems {
			r.problems = append(r.problems, unreadableProblem(p, len(data)))
		}
		return nil, &InvalidError{Source: source, Problems: r.problems}
	}
	if floor != nil {
		floor.takeForbid(r, doc.Root)
	}
	datesToStrings(doc.Root)
	for _, p := range known.schema().Check(doc) {
		r.addSchemaProblem(doc, p)
	}
	r.checkTypes(doc.Root, "")
	p := Default()
	r.applySettings(p, doc.Root)
	if floor != nil {
		r.refuseSince(p.Logs)
	}
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

// unreadableProblem returns the problem of a file that is not a YAML document,
// worded for a configuration and not for a log.
func unreadableProblem(p small.Problem, size int) Problem {
	out := Problem{Pos: p.Pos, Subject: p.Subject, Message: p.Message, Hint: p.Hint}
	switch {
	case p.Kind == small.ProblemTooLarge && size > MaxSize:
		out.Message = fmt.Sprintf("the file has %d bytes, the limit is %d", size, MaxSize)
		out.Hint = "replace a log's waivers by a baseline, which accepts the whole log in one stanza"
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

// datesToStrings turns the unquoted days of waivers, which YAML reads as dates,
// into strings, since the schema requires a string.
func datesToStrings(root *small.Value) {
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

// addSchemaProblem adds a problem that the schema found, with a better hint if there is one.
func (r *reader) addSchemaProblem(doc *small.Document, p small.Problem) {
	out := Problem{Pos: p.Pos, Subject: p.Subject, Message: p.Message, Hint: p.Hint}
	if len(r.problems) < maxAdvised {
		out.Suggestion, out.Hint = r.known.advise(p.Subject, p.Hint, find(doc.Root, p.Subject))
	}
	if p.Subject == "version" {
		out.Hint = fmt.Sprintf("write version: %d; it is the only one that this program reads", version)
	}
	r.reported[location{p.Pos, p.Subject}] = true
	r.problems = append(r.problems, out)
}
