package html

import (
	"fmt"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/wording"
)

const (
	// maxMarks is about how many marks a log is drawn with. In a longer one each mark stands for several entries.
	maxMarks = 2000
	// maxBands is how many runs have a band of their own.
	maxBands = 100
	// stretch is how many entries in a row give a run that returns another band.
	stretch = 5
	// colours is how many colours the bands of runs have.
	colours = 6
	// labelEvery is the least number of marks between two labels with a day.
	labelEvery = 8
)

// band is a stretch of a log, drawn mark by mark in the order of the entries. Only the style knows how many fit in a line.
type band struct {
	// Class is the colour of the run.
	Class, Name, Note string
	Marks             []mark
}

// mark stands for one entry or, in a long log, for several.
type mark struct {
	// Kind is how it looks: that of the gravest finding, or "entry", "merge", "gone".
	Kind string
	// Side says that the entry came by a branch that was merged. Beside says that one runs beside it; Begins and
	// Ends that one does so here.
	Side, Beside, Begins, Ends bool
	// Run is the colour of the run, if it is not the band's. Label is the day, where it is a new one.
	Run, Label, Title, Href string
}

// Class is the mark's class attribute.
func (m mark) Class() string {
	class := strings.TrimSpace(m.Kind + " " + m.Run)
	for _, c := range []struct {
		name string
		is   bool
	}{{"side", m.Side}, {"beside", m.Beside}, {"begins", m.Begins}, {"ends", m.Ends}} {
		if c.is {
			class += " " + c.name
		}
	}
	return class
}

// drawing draws one log.
type drawing struct {
	report *finding.Report
	id     string
	log    []finding.LogEntry
	// about are the findings in it.
	about []numbered
}

// row is the id of an entry's row in the table.
func (d *drawing) row(i int) string { return fmt.Sprintf("%se%d", d.id, i+1) }

// draw makes a band of each run, in order, and one of what is no longer there.
func (d *drawing) draw() []band {
	found, gone := d.places()
	var out []band
	if len(gone) > 0 {
		out = append(out, goneBand(gone))
	}
	branches, class := branchesOf(d.log), map[string]string{}
	each := max(1, (len(d.log)+maxMarks-1)/maxMarks)
	for from, bands := 0, 1; from < len(d.log); bands++ {
		last := bands == maxBands
		to := d.bandEnd(from, last, class)
		run := d.log[from].ReplayID
		b := band{Class: class[run], Name: "run " + runName(run), Note: span(d.log[from:to])}
		if run == "" {
			b.Name = "entries without a run"
		}
		labelled, since, others := dayOf(d.log[from].Timestamp), 0, 0
		for i := from; i < to; i += each {
			m := d.mark(i, min(i+each, to), found, branches)
			if at := d.log[i].ReplayID; at != run {
				others++
				m.Run = class[at]
				m.Title += ", run " + runName(at)
			}
			if day := dayOf(d.log[i].Timestamp); day != labelled && day != "" && since >= labelEvery {
				m.Label, labelled, since = day[len("2006-"):], day, 0
			}
			since++
			b.Marks = append(b.Marks, m)
		}
		switch {
		case others > 0 && last:
			b.Name = "later runs"
		case others > 0:
			b.Note += "; other runs among them"
		}
		out = append(out, b)
		from = to
	}
	return out
}

// bandEnd is where the band that begins at an entry ends: where a new run begins, or an earlier one returns for longer than a few
// entries; if last, at the end of the log. It gives each new run a colour.
func (d *drawing) bandEnd(from int, last bool, class map[string]string) int {
	band := d.log[from].ReplayID
	for i := from; i < len(d.log); {
		run := d.log[i].ReplayID
		_, known := class[run]
		to := i + 1
		for to < len(d.log) && d.log[to].ReplayID == run {
			to++
		}
		if i > from && run != band && !last && (!known || to-i >= stretch) {
			return i
		}
		if !known {
			class[run] = fmt.Sprintf("run%d", len(class)%colours)
		}
		i = to
	}
	return len(d.log)
}

// mark draws the entries from one up to another, which is not included.
func (d *drawing) mark(from, to int, found map[int][]numbered, branches []branch) mark {
	e := &d.log[from]
	m := mark{Kind: "entry", Title: fmt.Sprintf("entry %d: %s, %s", from+1, content.NameOr(e.TaskID, "no task_id"), content.NameOr(e.Timestamp, "no timestamp"))}
	if to-from > 1 {
		m.Title = fmt.Sprintf("entries %d to %d, from %s", from+1, to, content.NameOr(e.Timestamp, "no timestamp"))
	}
	if from < maxEntryRows {
		m.Href = "#" + d.row(from)
	}
	var here []numbered
	for i := from; i < to; i++ {
		here = append(here, found[i]...)
		if d.log[i].Reconciles {
			m.Kind = "merge"
			m.Title = "merge of branches; " + m.Title
		}
		m.Side = m.Side || d.log[i].Branch != ""
	}
	for _, b := range branches {
		m.Beside = m.Beside || from <= b.last && b.first < to
		m.Begins = m.Begins || from <= b.first && b.first < to
		m.Ends = m.Ends || from <= b.last && b.last < to
	}
	if len(here) > 0 {
		m.Kind, m.Href = here[0].class(), "#"+here[0].id() // the gravest comes first
		m.Title = fmt.Sprintf("%s %d: %s; ", here[0].word(), here[0].number, content.Name(here[0].Rule)) + m.Title
		if len(here) > 1 {
			m.Title = strings.Replace(m.Title, ";", fmt.Sprintf(" and %s;", wording.Count(len(here)-1, "more finding")), 1)
		}
	}
	return m
}

// word is what a finding is called in a mark's title.
func (f numbered) word() string {
	if f.waived {
		return "waived finding"
	}
	return string(f.Severity)
}

// places finds the entry at the tip that each finding is about: the one with the same task and time, or the same
// time, or at the same line. gone are findings about entries that are not at the tip.
func (d *drawing) places() (found map[int][]numbered, gone []numbered) {
	at := map[[2]string]int{}
	for i := range d.log {
		e := &d.log[i]
		at[[2]string{"", e.Timestamp}] = i
		at[[2]string{e.TaskID, e.Timestamp}] = i
	}
	found = map[int][]numbered{}
findings:
	for _, f := range d.about {
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
		} else if i := d.atLine(f.Finding); i >= 0 {
			found[i] = append(found[i], f)
		}
	}
	return found, gone
}

// atLine is the entry in which a finding's line is; -1 if the finding is not about the tip.
func (d *drawing) atLine(f *finding.Finding) int {
	if f.Commit != "" && f.Commit != d.report.Examined.Head {
		return -1
	}
	at := -1
	for i := range d.log {
		if d.log[i].Line > f.Line {
			break
		}
		at = i
	}
	return at
}

// goneBand draws entries that are not in the log any more.
func goneBand(gone []numbered) band {
	b := band{Class: "lost", Name: "no longer in this log", Note: wording.Count(len(gone), "entry")}
	for _, f := range gone {
		b.Marks = append(b.Marks, mark{
			Kind: "gone", Href: "#" + f.id(), Title: fmt.Sprintf("%s %d: %s; entry as it was, %s", f.word(), f.number, content.Name(f.Rule), entryFact(f.Entry)),
		})
	}
	return b
}

// branch is where the entries of a merged branch begin, and the entry where it ends: the one that says it was merged, if
// that follows.
type branch struct{ first, last int }

func branchesOf(log []finding.LogEntry) []branch {
	var out []branch
	at := map[string]int{}
	for i := range log {
		name := log[i].Branch
		if name == "" {
			continue
		}
		n, known := at[name]
		if !known {
			n = len(out)
			at[name] = n
			out = append(out, branch{first: i})
		}
		out[n].last = i
	}
	for i := range out {
		for next := out[i].last + 1; next < len(log) && next <= out[i].last+maxMarks; next++ {
			if log[next].Reconciles {
				out[i].last = next
				break
			}
			if log[next].Branch != "" || log[next].ReplayID != log[out[i].last].ReplayID {
				break
			}
		}
	}
	return out
}

// drawFork draws two branches since they parted: what they have in common, and the entries of each.
func drawFork(f *finding.Finding) []band {
	trunk := band{Class: "run0", Name: "in common", Note: wording.Count(f.Common.Count, "entry")}
	if n := len(f.Common.Last); n < f.Common.Count {
		trunk.Note += fmt.Sprintf(", the last %d of them", n)
	}
	for i := range f.Common.Last {
		trunk.Marks = append(trunk.Marks, mark{Kind: "entry", Title: content.Entry(&f.Common.Last[i])})
	}
	out := []band{trunk}
	for n := range f.Sides {
		s := &f.Sides[n]
		b := band{Class: fmt.Sprintf("arm run%d", n+1), Name: content.NameOr(s.Name, "no name"), Note: wording.Count(s.Count(), "entry")}
		entries, _ := content.First(s, maxMarks)
		for i := range entries {
			b.Marks = append(b.Marks, mark{Kind: "entry", Title: content.Entry(&entries[i])})
		}
		out = append(out, b)
	}
	return out
}

// span says how many entries a stretch has, and from when to when they are.
func span(log []finding.LogEntry) string {
	words := wording.Count(len(log), "entry")
	var first, last string
	for i := range log {
		if at := minute(log[i].Timestamp); at != "" {
			if first == "" || at < first {
				first = at
			}
			last = max(last, at)
		}
	}
	switch {
	case first == "":
		return words
	case first == last:
		return words + ", " + first
	case first[:len(time.DateOnly)] == last[:len(time.DateOnly)]:
		return words + ", " + first + " to " + last[len(time.DateOnly)+1:]
	}
	return words + ", " + first + " to " + last
}

// minute writes a timestamp in UTC; empty if it is none.
func minute(timestamp string) string {
	at, err := time.Parse(time.RFC3339Nano, timestamp)
	if err != nil {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04")
}

// dayOf is the day of a timestamp; empty if it is none.
func dayOf(timestamp string) string {
	day, _, _ := strings.Cut(minute(timestamp), " ")
	return day
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
