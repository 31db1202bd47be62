package html

import (
	"fmt"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/wording"
)

// maxEntryRows is how many entries of a log are listed.
const maxEntryRows = 500

type logSection struct {
	Path, Entries, Head string
	Timeline            *timeline
	Rows                []entryRow
	More                string
}

type entryRow struct {
	Number          int
	Time, Task, Run string
}

// logOf draws one log with the findings in it.
func logOf(r *finding.Report, l *finding.LedgerState, found []numbered) logSection {
	out := logSection{
		Path: content.NameOr(l.Path, "no path"), Entries: wording.Count(l.Entries, "entry"), Head: l.Head.String(),
	}
	var about []numbered
	for _, f := range found {
		if f.Path == l.Path {
			about = append(about, f)
		}
	}
	if l.Log == nil || len(l.Log) == 0 && len(about) == 0 {
		return out // not the tip's log, or nothing to draw
	}
	out.Timeline = drawLog(r, l, about)
	for i := range l.Log[:min(len(l.Log), maxEntryRows)] {
		e := &l.Log[i]
		out.Rows = append(out.Rows, entryRow{
			Number: i + 1, Time: content.NameOr(e.Timestamp, "none"), Task: content.NameOr(e.TaskID, "none"), Run: runName(e.ReplayID),
		})
	}
	if more := len(l.Log) - len(out.Rows); more > 0 {
		out.More = "… and " + wording.Count(more, "more entry")
	}
	return out
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

// logDrawing draws one log.
type logDrawing struct {
	*timeline
	log   []finding.LogEntry
	times []time.Time
	// strips are those of the entries; runs those of the runs.
	strips []*strip
	runs   map[string]*strip
	others *strip
	gone   *strip
	// places are the entries by task and time, and by time alone.
	places map[[2]string]int
}

func drawLog(r *finding.Report, l *finding.LedgerState, about []numbered) *timeline {
	d := &logDrawing{log: l.Log, times: entryTimes(l.Log), runs: map[string]*strip{}, places: map[[2]string]int{}}
	span := d.times
	for _, f := range about {
		if e := f.Entry; e != nil {
			span = append(span, readTime(e.Timestamp))
		}
	}
	d.timeline = newTimeline(span)
	for i := range l.Log {
		e := &l.Log[i]
		s := d.run(e.ReplayID)
		d.strips = append(d.strips, s)
		d.entry(s, d.times[i], "entry", func() string {
			return fmt.Sprintf("entry %d: %s, %s", i+1, content.NameOr(e.TaskID, "no task_id"), content.NameOr(e.Timestamp, "no timestamp"))
		})
		d.places[[2]string{"", e.Timestamp}] = i
		d.places[[2]string{e.TaskID, e.Timestamp}] = i
	}
	for _, f := range about {
		d.finding(r, f)
	}
	return d.finish()
}

// run is the strip of a run, by order of first appearance.
func (d *logDrawing) run(id string) *strip {
	if s, known := d.runs[id]; known {
		return s
	}
	if len(d.runs) >= maxStrips {
		if d.others == nil {
			d.others = d.strip("other runs")
		}
		return d.others
	}
	name := "run " + runName(id)
	if id == "" {
		name = "entries without a run"
	}
	d.runs[id] = d.strip(name)
	return d.runs[id]
}

// finding marks the entry at the tip that a finding is about: the one with the
// same task and time, or the same time, or at the same line. An entry that is not
// at the tip has a strip of its own.
func (d *logDrawing) finding(r *finding.Report, f numbered) {
	mark := func(s *strip, at time.Time) {
		title := func() string { return fmt.Sprintf("finding %d: %s", f.number, content.Name(f.Rule)) }
		d.mark(s, at, string(content.LevelOf(f.Finding)), "#"+f.id(), title)
	}
	for _, e := range []*finding.EntryRef{f.Entry, f.EntryAfter} {
		if e == nil || e.Timestamp == "" {
			continue
		}
		i, there := d.places[[2]string{e.TaskID, e.Timestamp}]
		if !there {
			i, there = d.places[[2]string{"", e.Timestamp}]
		}
		if there {
			mark(d.strips[i], d.times[i])
			return
		}
	}
	if f.Entry != nil {
		at := readTime(f.Entry.Timestamp)
		if at.IsZero() {
			return
		}
		if d.gone == nil {
			d.gone = d.strip("entries that are not in this log")
		}
		d.entry(d.gone, at, "gone", func() string { return "entry as it was: " + entryFact(f.Entry) })
		mark(d.gone, at)
		return
	}
	if i := d.atLine(r, f.Finding); i >= 0 {
		mark(d.strips[i], d.times[i])
	}
}

// atLine is the entry in which a finding's line is; -1 if the finding is not about
// the tip.
func (d *logDrawing) atLine(r *finding.Report, f *finding.Finding) int {
	if f.Commit != "" && f.Commit != r.Examined.Head {
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

// drawSides draws the entries of two branches since they parted.
func drawSides(sides []finding.Side) *timeline {
	var times []time.Time
	for _, side := range sides {
		for i := range side.Entries {
			times = append(times, readTime(side.Entries[i].Timestamp))
		}
	}
	t := newTimeline(times)
	for i := range sides {
		side := &sides[i]
		strip := t.strip(content.NameOr(side.Name, "no name"))
		for i := range side.Entries {
			e := &side.Entries[i]
			t.entry(strip, readTime(e.Timestamp), "entry", func() string { return "entry " + entryFact(e) })
		}
		strip.count += side.More
	}
	return t.finish()
}
