package logs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Schema is log/schema: a new entry of a configured log does not fit its schema.
var Schema = rule.New("log/schema", finding.SeverityError, finding.StageHistory, rule.Reading(checkSchema))

// checkSchema demands that each new entry of a log fits the schema of its stanza. Old entries stay as they are.
func checkSchema(_ context.Context, e *LogChange, r *rule.Reporter) error {
	stanza := e.Run.Source.Policy.LogFor(e.Path)
	if stanza == nil || stanza.Schema == "" || len(e.NewEntries) == 0 || e.NewRecords == nil {
		return nil
	}
	if stanza.SchemaFile() != "" && stanza.Given() == nil {
		return &failure.Error{Message: fmt.Sprintf("%s cannot be judged: the schema %s was not read", wording.Printable(e.Path), wording.Printable(stanza.Schema))}
	}
	records, err := e.NewRecords()
	if err != nil {
		return err
	}
	for _, index := range e.NewEntries {
		entry := ledger.Describe(e.New.Entries[index])
		message, fix := entry+" is not a JSON value, which schema: json asks of each new line", "write the line as one JSON value"
		switch {
		case stanza.Schema != policy.JSONValues:
			problems := unfit(stanza, records[index], e.Run.Options.Limits())
			if len(problems) == 0 {
				continue
			}
			message, fix = fmt.Sprintf("%s does not fit the schema %s: %s", entry, wording.Printable(stanza.Schema), problems[0].Message), "correct the "+e.New.Entries[index].Noun
			if more := len(problems) - 1; more > 0 {
				message += fmt.Sprintf("; and %s more", wording.Count(more, "problem"))
			}
		case json.Valid([]byte(records[index].Text)):
			continue
		}
		f := e.Insertion(index)
		f.Message, f.Fix = message, e.Correct(fix)
		r.Add(f)
	}
	return nil
}

// unfit says what in an entry does not fit the schema of its stanza.
func unfit(stanza *policy.Log, entry *small.Value, limits small.Limits) []small.Problem {
	if stanza.Entries == policy.LineEntries {
		doc, problems := small.ParseJSONValue([]byte(entry.Text), limits)
		if doc == nil {
			problems[0].Message, _, _ = strings.Cut(problems[0].Message, "; it is already on line") // the line of the entry, not of the log
			return problems
		}
		entry = doc.Root
	}
	return stanza.Given().Check(entry)
}
