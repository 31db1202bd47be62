package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/html"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// LookForm says how much of an entry the command small-hook log shows. A look is what this command found.
type LookForm int

// The forms.
const (
	// LookColumns is a line in columns, the default.
	LookColumns LookForm = iota
	// LookOneline is a line with commit, task, status and the entry's main text.
	LookOneline
	// LookFull is everything, on several lines.
	LookFull
)

// LookFormats lists the formats of small-hook log.
func LookFormats() []string { return []string{"text", "json", "html"} }

// CheckLookFormat is [CheckFormat] for LookFormats.
func CheckLookFormat(name string) error { return checkFormat(name, LookFormats()) }

// WriteLook writes entries of logs, in one of LookFormats. It returns the error of w.
func WriteLook(w io.Writer, format string, l *finding.Look, form LookForm, opts Options) error {
	var buf bytes.Buffer
	var err error
	switch format {
	case "json":
		err = sanitize.JSON(&buf, lookJSON(l))
	case "html":
		err = html.RenderLook(&buf, l, opts.Version)
	case "text":
		t := &text{buf: &buf, color: opts.Color, width: cmp.Or(opts.Width, content.Width)}
		t.look(l, form)
	default:
		return CheckLookFormat(format)
	}
	if err != nil {
		return err
	}
	return send(w, &buf)
}

// look writes entries for a person.
func (t *text) look(l *finding.Look, form LookForm) {
	several := len(l.Logs) > 1
	pathWidth, taskWidth, ownerWidth := 0, 0, 0
	for i := range l.Entries {
		e := &l.Entries[i]
		taskWidth, ownerWidth = max(taskWidth, utf8.RuneCountInString(content.Task(e))), max(ownerWidth, utf8.RuneCountInString(content.Owner(e)))
		pathWidth = max(pathWidth, utf8.RuneCountInString(content.Path(e.Path)))
	}
	for i := range l.Entries {
		e := &l.Entries[i]
		path := ""
		if several {
			path = pad(content.Path(e.Path), pathWidth) + "  "
		}
		switch form {
		case LookFull:
			t.entry(e)
		case LookOneline:
			status := ""
			if e.Status != "" {
				status = " " + t.paint(statusStyle(e.Status), content.Name(e.Status))
			}
			t.line(t.paint(yellow, content.LookCommit(e)), " ", path, content.Task(e), status, ": ", sanitize.Line(ledger.MainText(e.Value)))
		default:
			front := fmt.Sprintf("%s%s  %s  ", path, when(e), pad(content.Task(e), min(taskWidth, maxColumnWidth)))
			status, who := pad(content.Name(e.Status), len("in_progress")), pad(content.Owner(e), min(ownerWidth, maxColumnWidth))
			room := max(t.width-utf8.RuneCountInString(front+status+who)-len("    ")-len(content.LookCommit(e))-1, minWidth/2)
			t.line(front, t.paint(statusStyle(e.Status), status), "  ", who, "  ", pad(sanitize.Line(ledger.MainText(e.Value)), room), " ", t.paint(yellow, content.LookCommit(e)))
		}
	}
}

// maxColumnWidth is the largest width of a column, in characters.
const maxColumnWidth = 24

// pad pads or cuts a text to the width of a column. The texts are sanitised, and cutting cannot make them unsafe.
func pad(s string, width int) string {
	if n := utf8.RuneCountInString(s); n <= width {
		return s + strings.Repeat(" ", width-n)
	}
	return string([]rune(s)[:width-1]) + "…"
}

func statusStyle(status string) style {
	switch strings.ToLower(status) {
	case "completed":
		return green
	case "blocked", "cancelled":
		return red
	}
	return bold
}

// when returns an entry's time, or that of its commit if it has none, to the second and in UTC.
func when(e *finding.Recorded) string {
	if t, ok := e.Instant(); ok {
		return t.UTC().Format(time.DateTime)
	}
	return pad(content.NameOr(e.Timestamp, "no timestamp"), len(time.DateTime))
}

// entry writes everything about an entry.
func (t *text) entry(e *finding.Recorded) {
	t.line(t.paint(yellow, fmt.Sprintf("entry %d", e.Index+1)), " of ", content.Path(e.Path))
	row := func(name, value string) {
		if value != "" {
			t.line(pad(name+":", len("commit:  ")), value)
		}
	}
	row("task", content.Task(e))
	row("status", t.paint(statusStyle(e.Status), content.Name(e.Status)))
	row("time", content.Name(e.Timestamp))
	row("by", content.OwnerInFull(e))
	row("commit", content.LookCommitInFull(e))
	t.entryText(e)
	t.line()
}

// entryText writes all fields of an entry but task, status and timestamp, which the caller has written.
func (t *text) entryText(e *finding.Recorded) {
	for _, f := range ledger.FieldChanges(nil, e.Value) {
		switch f.Field {
		case "task_id", "status", "timestamp":
			continue
		}
		lines := strings.Split(strings.ReplaceAll(strings.TrimRight(f.To, "\n"), "\r\n", "\n"), "\n")
		if len(lines) == 1 {
			t.line("    ", content.NameOr(f.Field, "the entry"), ": ", sanitize.Line(lines[0]))
			continue
		}
		t.line("    ", content.NameOr(f.Field, "the entry"), ":")
		for _, line := range lines {
			t.line("        ", sanitize.Line(line))
		}
	}
}

// WriteTextconv writes a whole log as the text that git's diff compares (textconv, gitattributes(5)): each entry is a paragraph, in the log's order.
func WriteTextconv(w io.Writer, l *finding.Look) error {
	var buf bytes.Buffer
	t := &text{buf: &buf}
	for i := range l.Entries {
		e := &l.Entries[i]
		t.line(strings.Join([]string{content.NameOr(e.Timestamp, "no timestamp"), content.Task(e), content.Name(e.Status)}, "  "))
		t.entryText(e)
		t.line()
	}
	return send(w, &buf)
}

// lookSchema names the contract of jsonLook, as stable as jsonSchema.
const lookSchema = "small-gate/log/v1"

// jsonLook are entries of logs, for programs.
type jsonLook struct {
	Schema string `json:"schema"`
	// Revision is the full id of the commit that has the logs; empty for those of the work tree.
	Revision string `json:"revision"`
	// Logs are the logs that were searched, each with the number of all its entries.
	Logs []jsonLedger `json:"logs"`
	// Entries are the entries that were found, in the order that was asked for.
	Entries []jsonRecorded `json:"entries"`
}

type jsonRecorded struct {
	// Path is the path of the log.
	Path string `json:"path"`
	jsonEntry
	// Status is empty if the entry has none.
	Status string `json:"status"`
	// ReplayID is the id of the entry's run; empty if it belongs to none.
	ReplayID string    `json:"replay_id"`
	By       jsonOwner `json:"by"`
	// Commit is the commit that added the entry; null for an entry that is not committed yet.
	Commit *jsonCommit `json:"commit"`
	// Entry is the entry in full, with credentials masked.
	Entry json.RawMessage `json:"entry"`
}

// jsonOwner says who made an entry.
type jsonOwner struct {
	// Agent is the agent's id; empty for a person's entry, and if nothing names the agent.
	Agent string `json:"agent"`
	// Author and Email are those of the commit.
	Author string `json:"author"`
	Email  string `json:"email"`
	// How says by what sign the entry is an agent's; empty for a person's.
	How string `json:"how"`
}

func lookJSON(l *finding.Look) jsonLook {
	out := jsonLook{Schema: lookSchema, Revision: l.Revision, Logs: []jsonLedger{}, Entries: []jsonRecorded{}}
	for _, s := range l.Logs {
		out.Logs = append(out.Logs, jsonLedger{Path: s.Path, Entries: s.Entries, Head: s.Head.String()})
	}
	for i := range l.Entries {
		e := &l.Entries[i]
		r := jsonRecorded{
			Path: e.Path, jsonEntry: *entryJSON(finding.RefOf(e.Entry)), Status: e.Status, ReplayID: e.ReplayID,
			By:    jsonOwner{Agent: e.By.Agent, Author: e.By.Author, Email: e.By.Email, How: e.By.How},
			Entry: json.RawMessage(ledger.Masked(e.Value).Canonical()),
		}
		if c := e.Commit; c.ID != "" {
			r.Commit = &jsonCommit{ID: c.ID, Author: c.Author, Subject: c.Subject, Date: c.Date}
		}
		out.Entries = append(out.Entries, r)
	}
	return out
}
