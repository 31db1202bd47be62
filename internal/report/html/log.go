package html

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/wording"
)

// maxEntryRows is how many entries of a log are listed.
const maxEntryRows = 2000

type logSection struct {
	ID, Path, Entries, Head string
	// Key says what the marks in Bands stand for.
	Key   []key
	Bands []band
	Rows  []entryRow
	More  string
}

// key is one kind of mark.
type key struct{ Class, Words string }

type entryRow struct {
	ID              string
	Number          int
	Time, Task, Run string
}

// logOf draws the page's log number n with the findings in it.
func (p *page) logOf(l *finding.LedgerState, n int) logSection {
	out := logSection{
		ID: fmt.Sprintf("l%d", n), Path: content.NameOr(l.Path, "no path"), Entries: wording.Count(l.Entries, "entry"), Head: l.Head.String(),
	}
	if l.Log == nil {
		return out // not the tip's log
	}
	d := drawing{report: p.report, id: out.ID, log: l.Log}
	for _, f := range p.shown {
		if f.Path == l.Path {
			d.about = append(d.about, f)
		}
	}
	out.Bands = d.draw()
	out.Key = keyOf(out.Bands)
	for i := range l.Log[:min(len(l.Log), maxEntryRows)] {
		e := &l.Log[i]
		out.Rows = append(out.Rows, entryRow{
			ID: d.row(i), Number: i + 1, Time: content.NameOr(e.Timestamp, "none"), Task: content.NameOr(e.TaskID, "none"), Run: runName(e.ReplayID),
		})
	}
	if more := len(l.Log) - len(out.Rows); more > 0 {
		out.More = "… and " + wording.Count(more, "more entry")
	}
	return out
}

// keyOf lists the kinds of marks that a drawing has.
func keyOf(bands []band) []key {
	used := map[string]bool{}
	for _, b := range bands {
		for _, m := range b.Marks {
			used[m.Kind] = true
			used["side"] = used["side"] || m.Side
		}
	}
	var out []key
	for _, k := range []key{
		{"entry", "entry"}, {"bad", "error"}, {"warn", "warning"}, {"waived", "waived"}, {"gone", "no longer in the log"}, {"merge", "merge of branches"}, {"side", "below the line: came by a merged branch"},
	} {
		if used[k.Class] {
			out = append(out, k)
		}
	}
	return out
}
