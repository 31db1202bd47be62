package html

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/report/content"
)

// lookPage is the page of small-hook log.
type lookPage struct {
	Policy  string
	Style   template.CSS
	Title   string
	Logs    []fact
	Rows    []lookRow
	More    string
	Version string
}

// lookRow is an entry as in the report's table of a log, with its text and who made it.
type lookRow struct {
	entryRow
	Status, By, Commit, Evidence string
}

// RenderLook appends a page with entries of logs. version is the program's.
func RenderLook(buf *bytes.Buffer, l *finding.Look, version string) error {
	parts, err := pageTemplate()
	if err != nil {
		return err
	}
	p := lookPage{Policy: contentPolicy(), Style: template.CSS(pageStyle), Title: wording.Count(len(l.Entries), "entry"), Version: content.Name(version)}
	for _, s := range l.Logs {
		p.Logs = append(p.Logs, fact{Name: content.Path(s.Path), Value: wording.Count(s.Entries, "entry") + ", head " + s.Head.String()})
	}
	for i := range l.Entries[:min(len(l.Entries), maxEntryRows)] {
		e := &l.Entries[i]
		row := lookRow{Status: content.Name(e.Status), By: content.OwnerInFull(e), Commit: content.LookCommitInFull(e), Evidence: content.Text(ledger.MainText(e.Value))}
		row.Number = fmt.Sprint(e.Index + 1)
		row.fill(cmp.Or(e.Timestamp, e.Commit.Date), "", e.ReplayID)
		row.Task = content.Task(e)
		if len(l.Logs) > 1 {
			row.Notes = append(row.Notes, content.Path(e.Path))
		}
		p.Rows = append(p.Rows, row)
	}
	if more := len(l.Entries) - maxEntryRows; more > 0 {
		p.More = "… and " + wording.Count(more, "more entry")
	}
	return parts.ExecuteTemplate(buf, "look", p)
}
