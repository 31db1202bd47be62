package html

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// maxEntryRows is the largest number of entries that are listed of a log.
const maxEntryRows = 2000

type logSection struct {
	ID, Path, Entries, Head string
	// Open is true if a row has a finding.
	Open bool
	Rows []entryRow
	More string
}

// entryRow is an entry of the log, or a deleted one.
type entryRow struct {
	// Class is that of the gravest finding; "gone" if the entry was deleted.
	ID, Class, Number string
	Time, Task, Run   string
	// Evidence is empty if a finding shows the entry's text.
	Evidence string
	// Notes say how the entry came into the log; Findings link to the findings about it.
	Notes    []string
	Findings []found
}

// found links to a finding.
type found struct{ Words, Href string }

// logOf lists log number n of the page, and the findings in it.
func (p *page) logOf(l *finding.LedgerState, n int) logSection {
	out := logSection{
		ID: fmt.Sprintf("l%d", n), Path: content.NameOr(l.Path, "no path"), Entries: wording.Count(l.Entries, "entry"), Head: l.Head.String(),
	}
	if l.Log == nil {
		return out // the tip's log was not read
	}
	at, gone := p.places(l)
	for _, f := range gone {
		row := entryRow{Class: "gone", Number: fmt.Sprint(f.Entry.Index + 1), Notes: []string{"no longer in this log"}}
		row.fill(f.Entry.Timestamp, f.Entry.TaskID, "")
		row.add(f)
		out.Rows = append(out.Rows, row)
	}
	out.Open = len(gone) > 0
	for i := range l.Log[:min(len(l.Log), maxEntryRows)] {
		e := &l.Log[i]
		row := entryRow{ID: fmt.Sprintf("%se%d", out.ID, i+1), Number: fmt.Sprint(i + 1)}
		row.fill(e.Timestamp, e.TaskID, e.ReplayID)
		row.Evidence = content.Text(e.Evidence)
		if e.Reconciles {
			row.Notes = append(row.Notes, "merge of branches")
		}
		if e.Branch != "" {
			row.Notes = append(row.Notes, "came by a merged branch")
		}
		for _, f := range at[i] { // the gravest is first
			row.add(f)
			if len(f.Changes) > 0 {
				row.Evidence = "" // the finding shows both versions, and masks a credential that only one of them shows
			}
			out.Open = true
		}
		out.Rows = append(out.Rows, row)
	}
	if more := len(l.Log) - maxEntryRows; more > 0 {
		out.More = "… and " + wording.Count(more, "more entry")
	}
	return out
}

func (r *entryRow) fill(timestamp, task, run string) {
	r.Time, r.Task, r.Run = content.NameOr(timestamp, "none"), content.NameOr(task, "none"), runName(run)
}

func (r *entryRow) add(f numbered) {
	word := string(f.Severity)
	if f.waived {
		word = "waived"
	}
	if r.Class == "" {
		r.Class = f.class()
	}
	r.Findings = append(r.Findings, found{Words: fmt.Sprintf("%s %d: %s", word, f.number, content.Name(f.Rule)), Href: "#" + f.id()})
}

// places finds the tip's entry for each finding: one with the same task and time, else with the same time, else at the same line. found maps the
// entries' indexes to findings; gone are the findings about entries that the tip does not have.
func (p *page) places(l *finding.LedgerState) (found map[int][]numbered, gone []numbered) {
	at := map[[2]string]int{}
	for i := range l.Log {
		e := &l.Log[i]
		at[[2]string{"", e.Timestamp}] = i
		at[[2]string{e.TaskID, e.Timestamp}] = i
	}
	found = map[int][]numbered{}
findings:
	for _, f := range p.shown {
		if f.Path != l.Path {
			continue
		}
		for _, e := range []*finding.EntryRef{f.Entry, f.EntryAfter} {
			if e == nil || e.Timestamp == "" {
				continue
			}
			for _, key := range [][2]string{{e.TaskID, e.Timestamp}, {"", e.Timestamp}} {
				if i, there := at[key]; there {
					found[i] = append(found[i], f)
					continue findings
				}
			}
		}
		if f.Entry != nil {
			gone = append(gone, f)
		} else if i := p.atLine(l, f.Finding); i >= 0 {
			found[i] = append(found[i], f)
		}
	}
	return found, gone
}

// atLine returns the entry that contains a finding's line; -1 if the finding is not about the tip.
func (p *page) atLine(l *finding.LedgerState, f *finding.Finding) int {
	if f.Commit != "" && f.Commit != p.report.Examined.Head {
		return -1
	}
	at := -1
	for i := range l.Log {
		if l.Log[i].Line > f.Line {
			break
		}
		at = i
	}
	return at
}

// runName abbreviates a run's id.
func runName(id string) string {
	if id == "" {
		return "no run"
	}
	start, rest := sanitize.Cut(id, 12)
	if start = sanitize.Line(start); rest != "" {
		start += "…"
	}
	return start
}
