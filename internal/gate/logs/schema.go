package logs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
)

// Schema is log/schema: a new entry of a configured log does not fit its schema.
var Schema = rule.New("log/schema", finding.SeverityError, finding.StageHistory, rule.Reading(checkSchema))

// checkSchema demands that each new line of a log with schema: json is one JSON value. Old lines stay as they are.
func checkSchema(_ context.Context, e *LogChange, r *rule.Reporter) error {
	stanza := e.Run.Source.Policy.LogFor(e.Path)
	if stanza == nil || stanza.Schema != policy.JSONValues || len(e.NewEntries) == 0 || e.NewRecords == nil {
		return nil
	}
	records, err := e.NewRecords()
	if err != nil {
		return err
	}
	for _, index := range e.NewEntries {
		if json.Valid([]byte(records[index].Text)) {
			continue
		}
		f := e.Insertion(index)
		f.Message = fmt.Sprintf("%s is not a JSON value, which schema: json asks of each new line", ledger.Describe(e.New.Entries[index]))
		f.Fix = e.Correct("write the line as one JSON value")
		r.Add(f)
	}
	return nil
}
