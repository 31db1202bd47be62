package report

import (
	"bytes"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// jsonSchema names the contract below. It is stable: keys are added, never
// removed or renamed. Every key is always there unless its comment says
// otherwise; what does not apply is null, "" or [].
const jsonSchema = "small-gate/report/v1"

type jsonReport struct {
	Schema  string          `json:"schema"`
	Verdict finding.Verdict `json:"verdict"`
	Mode    string          `json:"mode"`
	Strict  bool            `json:"strict"`
	Tool    jsonTool        `json:"tool"`
	// Time is the time of the judgement, in RFC 3339 and UTC; empty if nothing was judged.
	Time     string        `json:"time"`
	Examined jsonExamined  `json:"examined"`
	Ledgers  []jsonLedger  `json:"ledgers"`
	Findings []jsonFinding `json:"findings"`
	Waived   []jsonWaived  `json:"waived"`
	// More counts the findings that are too many to list; it is left out if there
	// are none. The summary counts them too.
	More *jsonSummary `json:"more,omitempty"`
	// Commits are the commits that findings name, at most the first 300; left out if there are none.
	Commits []jsonCommit `json:"commits,omitempty"`
	// Lane is null if no lane was claimed.
	Lane    *jsonLane   `json:"lane"`
	Summary jsonSummary `json:"summary"`
	Error   *jsonError  `json:"error"`
}

// jsonTool is the program that made the report.
type jsonTool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type jsonExamined struct {
	Commits    int    `json:"commits"`
	Workspaces int    `json:"workspaces"`
	Logs       int    `json:"logs,omitempty"`
	Workflows  int    `json:"workflows,omitempty"`
	Base       string `json:"base"`
	Head       string `json:"head"`
	Merge      string `json:"merge"`
	// Repository is the address of origin, such as github.com/acme/widgets, or else the repository's name. It, Branch and CommitLink are left out
	// if they are not known. CommitLink followed by a commit's id is the address of its page.
	Repository string `json:"repository,omitempty"`
	Branch     string `json:"branch,omitempty"`
	CommitLink string `json:"commit_link,omitempty"`
	Policy     string `json:"policy"`
	// Floor is empty without one.
	Floor  string `json:"floor"`
	Reader string `json:"reader"`
	Source string `json:"source"`
	// Notes are sentences for a person.
	Notes []string `json:"notes"`
}

// jsonCommit is what people know a commit by.
type jsonCommit struct {
	ID      string `json:"id"`
	Author  string `json:"author"`
	Subject string `json:"subject"`
	// Date is the author's, in RFC 3339.
	Date string `json:"date"`
}

type jsonLedger struct {
	Path    string `json:"path"`
	Entries int    `json:"entries"`
	// Open counts the entries that are not finished and therefore not counted in entries; left out if there are none.
	Open int    `json:"open,omitempty"`
	Head string `json:"head"`
	// Opened are the open entries that the change adds; left out if there are none.
	Opened []jsonOpened `json:"opened,omitempty"`
}

// jsonOpened is an entry that is not finished.
type jsonOpened struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	// Text is the beginning of its first line.
	Text string `json:"text"`
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
	// MoreChanges counts the changes that are too many to list; left out if there
	// are none.
	MoreChanges int       `json:"more_changes,omitempty"`
	Fix         string    `json:"fix"`
	Fingerprint string    `json:"fingerprint"`
	Edit        *jsonEdit `json:"edit"`
}

// jsonEdit names an edit as a waiver does: by the digests before and after it,
// null if there is no entry. A finding that is not about one edit has none.
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
	Index     int     `json:"index"`
	Line      int     `json:"line"`
	TaskID    *string `json:"task_id,omitempty"`
	Timestamp *string `json:"timestamp,omitempty"`
	Digest    string  `json:"digest"`
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
	// Notes counts the findings of severity note. 0 is left out.
	Notes int `json:"notes,omitempty"`
}

type jsonError struct {
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

// renderJSON writes the report for programs: indented by two spaces, with a final newline, and U+FFFD in place of each byte that is not
// UTF-8.
func renderJSON(buf *bytes.Buffer, r *finding.Report, opts Options) error {
	return sanitize.JSON(buf, document(r, opts))
}

func document(r *finding.Report, opts Options) jsonReport {
	doc := jsonReport{
		Schema: jsonSchema, Verdict: content.Verdict(r), Mode: r.Mode, Strict: r.Strict,
		Tool:     jsonTool{Name: r.Tool, Version: opts.Version},
		Examined: jsonExamined(r.Examined),
		Ledgers:  make([]jsonLedger, len(r.Ledgers)),
		Findings: make([]jsonFinding, len(r.Findings)),
		Waived:   make([]jsonWaived, len(r.Waived)),
		Lane:     laneJSON(r.Lane),
		Summary:  jsonSummary(r.Count()),
	}
	if !r.Time.IsZero() {
		doc.Time = r.Time.UTC().Format(time.RFC3339)
	}
	if doc.Examined.Notes == nil {
		doc.Examined.Notes = []string{}
	}
	for i, l := range r.Ledgers {
		doc.Ledgers[i] = jsonLedger{Path: l.Path, Entries: l.Entries, Open: l.Open, Head: l.Head.String()}
		for _, e := range l.Opened {
			doc.Ledgers[i].Opened = append(doc.Ledgers[i].Opened, jsonOpened(e))
		}
	}
	for _, c := range r.Commits {
		doc.Commits = append(doc.Commits, jsonCommit(c))
	}
	for i := range r.Findings {
		doc.Findings[i] = toJSON(&r.Findings[i])
	}
	for i := range r.Waived {
		doc.Waived[i] = jsonWaived{jsonFinding: toJSON(&r.Waived[i]), Reason: r.Waived[i].Reason}
	}
	if r.More != (finding.Counts{}) {
		doc.More = (*jsonSummary)(&r.More)
	}
	if f := content.Failure(r); f != nil {
		doc.Error = &jsonError{Message: f.Message, Remedy: f.Remedy}
	}
	return doc
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
	out := &jsonEntry{Index: e.Index, Line: max(e.Line, 1), Digest: e.Digest.String()}
	if e.Noun == "" || e.Noun == ledger.Switch {
		out.TaskID, out.Timestamp = &e.TaskID, &e.Timestamp
	}
	return out
}
