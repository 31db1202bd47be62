package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

// jsonSchema names the contract below. It is stable: keys are added, never
// removed or renamed. Every key is always there, where nothing else is said; what
// does not apply is null, "" or [].
const jsonSchema = "small-gate/report/v1"

type jsonReport struct {
	Schema   string          `json:"schema"`
	Verdict  finding.Verdict `json:"verdict"`
	Mode     string          `json:"mode"`
	Strict   bool            `json:"strict"`
	Examined jsonExamined    `json:"examined"`
	Ledgers  []jsonLedger    `json:"ledgers"`
	Findings []jsonFinding   `json:"findings"`
	Waived   []jsonWaived    `json:"waived"`
	// More counts the findings that are not listed, being too many; it is there
	// if there are any. The summary counts them too.
	More *jsonSummary `json:"more,omitempty"`
	// Lane is null where no lane was claimed.
	Lane *jsonLane `json:"lane"`
	// CrossContracts is there if there are any.
	CrossContracts []jsonContract `json:"cross_contracts,omitempty"`
	Summary        jsonSummary    `json:"summary"`
	Error          *jsonError     `json:"error"`
}

type jsonExamined struct {
	Commits    int    `json:"commits"`
	Workspaces int    `json:"workspaces"`
	Workflows  int    `json:"workflows,omitempty"`
	Base       string `json:"base"`
	Head       string `json:"head"`
	Merge      string `json:"merge"`
	Policy     string `json:"policy"`
	Reader     string `json:"reader"`
	Source     string `json:"source"`
	// Notes are sentences for a person.
	Notes []string `json:"notes"`
}

type jsonLedger struct {
	Path    string `json:"path"`
	Entries int    `json:"entries"`
	Head    string `json:"head"`
}

type jsonFinding struct {
	Rule       string           `json:"rule"`
	Severity   finding.Severity `json:"severity"`
	Stage      finding.Stage    `json:"stage"`
	Message    string           `json:"message"`
	Path       string           `json:"path"`
	Line       int              `json:"line"`
	Column     int              `json:"column"`
	Commit     string           `json:"commit"`
	Parent     string           `json:"parent"`
	Entry      *jsonEntry       `json:"entry"`
	EntryAfter *jsonEntry       `json:"entry_after"`
	Changes    []jsonChange     `json:"changes"`
	// MoreChanges counts the changes that are not listed, being too many; it is
	// there if there are any.
	MoreChanges int       `json:"more_changes,omitempty"`
	Fix         string    `json:"fix"`
	Fingerprint string    `json:"fingerprint"`
	Edit        *jsonEdit `json:"edit"`
}

// jsonEdit names an edit as a waiver does: null on the side that has nothing.
// A finding that speaks of no single edit has none.
type jsonEdit struct {
	From *string `json:"from"`
	To   *string `json:"to"`
}

type jsonWaived struct {
	jsonFinding
	Reason string `json:"reason"`
}

type jsonEntry struct {
	// Index counts from 0.
	Index     int    `json:"index"`
	Line      int    `json:"line"`
	TaskID    string `json:"task_id"`
	Timestamp string `json:"timestamp"`
	Digest    string `json:"digest"`
}

// jsonChange has null on the side where the field is absent.
type jsonChange struct {
	Field string  `json:"field"`
	From  *string `json:"from"`
	To    *string `json:"to"`
}

type jsonSummary struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Waived   int `json:"waived"`
}

type jsonError struct {
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

// renderJSON writes the report for programs: two spaces of indentation, a
// final newline, text that is not UTF-8 with U+FFFD in place of each bad byte.
func renderJSON(buf *bytes.Buffer, r *finding.Report, _ Options) error {
	count := r.Count()
	doc := jsonReport{
		Schema: jsonSchema, Verdict: verdict(r), Mode: r.Mode, Strict: r.Strict,
		Examined: jsonExamined{
			Commits: r.Examined.Commits, Workspaces: r.Examined.Workspaces, Workflows: r.Examined.Workflows,
			Base: r.Examined.Base, Head: r.Examined.Head, Policy: r.Examined.Policy, Reader: r.Examined.Reader,
			Merge: r.Examined.Merge, Source: r.Examined.Source, Notes: append([]string{}, r.Examined.Notes...),
		},
		Ledgers:  make([]jsonLedger, len(r.Ledgers)),
		Findings: make([]jsonFinding, len(r.Findings)),
		Waived:   make([]jsonWaived, len(r.Waived)),
		Lane:     laneJSON(r.Lane),
		Summary:  jsonSummary{Errors: count.Errors, Warnings: count.Warnings, Waived: count.Waived},
	}
	for i, l := range r.Ledgers {
		doc.Ledgers[i] = jsonLedger{Path: l.Path, Entries: l.Entries, Head: l.Head.String()}
	}
	for _, c := range r.CrossContracts {
		doc.CrossContracts = append(doc.CrossContracts, jsonContract(c))
	}
	for i := range r.Findings {
		doc.Findings[i] = toJSON(&r.Findings[i])
	}
	for i := range r.Waived {
		doc.Waived[i] = jsonWaived{jsonFinding: toJSON(&r.Waived[i]), Reason: r.Waived[i].Reason}
	}
	if more := r.More; more != (finding.Counts{}) {
		doc.More = &jsonSummary{Errors: more.Errors, Warnings: more.Warnings, Waived: more.Waived}
	}
	if f := failureOf(r); f != nil {
		doc.Error = &jsonError{Message: f.Message, Remedy: f.Remedy}
	}
	return encodeJSON(buf, doc)
}

// encodeJSON writes a document of one of the formats that are JSON.
func encodeJSON(buf *bytes.Buffer, doc any) error {
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	escapeJSON(buf, plain.Bytes())
	return nil
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func toJSON(f *finding.Finding) jsonFinding {
	out := jsonFinding{
		Rule: f.Rule, Severity: f.Severity, Stage: f.Stage, Message: f.Message,
		Path: f.Path, Line: max(f.Line, 1), Column: max(f.Column, 1),
		Commit: f.Commit, Parent: f.Parent,
		Entry: entryJSON(f.Entry), EntryAfter: entryJSON(f.EntryAfter),
		Changes:     make([]jsonChange, len(f.Changes)),
		MoreChanges: f.MoreChanges, Fix: f.Fix, Fingerprint: f.Fingerprint(),
	}
	if f.EditFrom != "" || f.EditTo != "" {
		out.Edit = &jsonEdit{From: orNull(f.EditFrom), To: orNull(f.EditTo)}
	}
	for i := range f.Changes {
		c := &f.Changes[i]
		out.Changes[i].Field = c.Field
		if c.HasFrom {
			out.Changes[i].From = &c.From
		}
		if c.HasTo {
			out.Changes[i].To = &c.To
		}
	}
	return out
}

func entryJSON(e *finding.EntryRef) *jsonEntry {
	if e == nil {
		return nil
	}
	return &jsonEntry{Index: e.Index, Line: max(e.Line, 1), TaskID: e.TaskID, Timestamp: e.Timestamp, Digest: e.Digest.String()}
}

// escapeJSON copies a JSON document and escapes inside its strings what a
// terminal or a CI system would obey. The document's values stay the same:
// none of these characters can stand outside a string, and \u escapes mean
// what they replace.
func escapeJSON(dst *bytes.Buffer, src []byte) {
	dst.Grow(len(src))
	for i, before := 0, rune(0); i < len(src); {
		r, n := rune(src[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(src[i:])
		}
		switch {
		case r == '[' && endsInHashes(dst.Bytes()):
			dst.WriteString(`\u005b`)
		case r != '\n' && isHidden(before, r):
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(dst, `\u%04x`, unit)
			}
		default:
			dst.Write(src[i : i+n])
		}
		before = r
		i += n
	}
}
