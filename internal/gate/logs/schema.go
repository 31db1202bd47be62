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

// checkSchema reports each new entry of a log that does not fit the schema of its stanza. Old entries are not checked.
func checkSchema(_ context.Context, e *LogChange, r *rule.Reporter) error {
	stanza := e.Run.Source.Policy.LogFor(e.Path)
	if stanza == nil || stanza.Schema == "" || len(e.NewEntries) == 0 || e.NewRecords == nil {
		return nil
	}
	records, err := e.NewRecords()
	if err != nil {
		return err
	}
	for _, index := range e.NewEntries {
		problem, fix, err := SchemaProblem(stanza, records[index], e.New.Entries[index].Noun, e.Run.Options.Limits())
		if err != nil {
			return err
		}
		if problem == "" {
			continue
		}
		f := e.InsertionFinding(index)
		f.Message, f.Fix = ledger.Describe(e.New.Entries[index])+" "+problem, e.CorrectFix(fix)
		r.Add(f)
	}
	return nil
}

// SchemaProblem says how a new entry does not fit the schema of its stanza, and how to correct it; both are empty if the entry fits. noun is what
// messages call the entry. The call fails if the schema was not read.
func SchemaProblem(stanza *policy.Log, record *small.Value, noun string, limits small.Limits) (problem, fix string, err error) {
	switch {
	case stanza.Schema == "":
		return "", "", nil
	case stanza.Schema == policy.JSONValues && json.Valid([]byte(record.Text)):
		return "", "", nil
	case stanza.Schema == policy.JSONValues:
		return "is not a JSON value, but schema: json demands one on each new line", "write the line as one JSON value", nil
	case stanza.Given() == nil:
		return "", "", &failure.Error{Message: fmt.Sprintf("%s cannot be judged: the schema %s was not read", wording.Printable(stanza.Path), wording.Printable(stanza.Schema))}
	}
	problems := checkAgainstSchema(stanza, record, limits)
	if len(problems) == 0 {
		return "", "", nil
	}
	problem = fmt.Sprintf("does not fit the schema %s: %s", wording.Printable(stanza.Schema), problems[0].Message)
	if more := len(problems) - 1; more > 0 {
		problem += fmt.Sprintf("; and %s more", wording.Count(more, "problem"))
	}
	return problem, "correct the " + noun, nil
}

// checkAgainstSchema returns the problems of an entry that does not fit the schema of its stanza.
func checkAgainstSchema(stanza *policy.Log, entry *small.Value, limits small.Limits) []small.Problem {
	if stanza.Entries == policy.LineEntries {
		doc, problems := small.ParseJSONValue([]byte(entry.Text), limits)
		if doc == nil {
			problems[0].Message, _, _ = strings.Cut(problems[0].Message, "; it is already on line") // the number of that line counts from the entry's beginning
			return problems
		}
		entry = doc.Root
	}
	return stanza.Given().Check(entry)
}
