package commits

import (
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
)

// Credential is secret/credential: a new entry holds a key, a token or a password.
var Credential = rule.Rule{
	ID: credentialRule, Severity: finding.SeverityError, Stage: finding.StageHistory,
	Edit:   ledger.EntryInserted,
	Checks: []rule.Check{rule.On(checkCredential)},
}

const credentialRule = "secret/credential"

// checkCredential looks at what is new. In a whole history everything is: there it speaks in strict mode alone.
func checkCredential(e *subject.LogChange, r *rule.Reporter) {
	if e.Whole && !e.Strict {
		return
	}
	for _, index := range e.NewEntries {
		entry := e.New.Entries[index]
		if !ledger.HasCredential(entry) {
			continue
		}
		f := e.Finding(ledger.Edit{Kind: ledger.EditInserted, OldIndex: -1, NewIndex: index, Pos: entry.Credentials[0].Pos})
		f.Rule, f.Edits = credentialRule, nil
		var held []string
		for _, c := range entry.Credentials {
			f.Edits = append(f.Edits, subject.CredentialKey(e.Path, c.Field, entry))
			if words := describeCredential(c); !slices.Contains(held, words) {
				held = append(held, words)
			}
		}
		f.Message = fmt.Sprintf("%s holds %s", ledger.Describe(entry), strings.Join(held, "; "))
		f.Fix = e.WithoutCredential(f)
		r.Add(f)
	}
}

// describeCredential names the vendor, the literal that the value begins with, and the field: nothing else of it.
func describeCredential(c ledger.Credential) string {
	words := "a credential (" + c.Kind
	if c.Prefix != "" {
		words += ", " + c.Prefix + "…"
	}
	return words + ") in " + c.Field
}
