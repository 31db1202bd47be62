package report

import (
	"fmt"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

// maxEntryRows is how many entries of a log are listed in words.
const maxEntryRows = 500

type pageLog struct {
	Path, Entries, Head string
	Timeline            *timeline
	Rows                []pageEntry
	More                string
}

type pageEntry struct {
	Number          int
	Time, Task, Run string
}

// pageLogOf draws one log with the findings that speak of it.
func pageLogOf(r *finding.Report, l *finding.LedgerState, found findingNumbers) pageLog {
	out := pageLog{
		Path: orNone(Sanitize(l.Path), "no path"), Entries: entryCount(l.Entries), Head: l.Head.String(),
	}
	var about []numberedFinding
	for _, f := range found.shown {
		if f.finding.Path == l.Path {
			about = append(about, f)
		}
	}
	if l.Log == nil || len(l.Log) == 0 && len(about) == 0 {
		return out // not the tip's log, or nothing to draw
	}
	out.Timeline = drawLog(r, l, about)
	for i := range l.Log {
		if i == maxEntryRows {
			out.More = "… and " + entryCount(len(l.Log)-i) + " more"
			break
		}
		e := &l.Log[i]
		out.Rows = append(out.Rows, pageEntry{
			Number: i + 1, Time: orNone(e.Timestamp, "none"), Task: orNone(e.TaskID, "none"), Run: runName(e.ReplayID),
		})
	}
	return out
}

// runName abbreviates a run's id.
func runName(id string) string {
	const digits = 12
	if id == "" {
		return "no run"
	}
	if end := forward(id, 0, digits); end < len(id) {
		return Sanitize(id[:end]) + "…"
	}
	return Sanitize(id)
}

// logDrawing draws one log.
type logDrawing struct {
	*timeline
	log   []finding.LogEntry
	times []time.Time
	// lanes are the lanes of the entries; runs those of the runs.
	lanes  []*lane
	runs   map[string]*lane
	others *lane
	gone   *lane
	// places are the entries by task and time, and by time alone.
	places map[[2]string]int
}

func drawLog(r *finding.Report, l *finding.LedgerState, about []numberedFinding) *timeline {
	d := &logDrawing{log: l.Log, times: entryTimes(l.Log), runs: map[string]*lane{}, places: map[[2]string]int{}}
	span := d.times
	for _, f := range about {
		if e := f.finding.Entry; e != nil {
			span = append(span, readTime(e.Timestamp))
		}
	}
	d.timeline = newTimeline(span)
	for i := range l.Log {
		e := &l.Log[i]
		lane := d.run(e.ReplayID)
		d.lanes = append(d.lanes, lane)
		d.entry(lane, d.times[i], "entry", func() string {
			return fmt.Sprintf("entry %d: %s, %s", i+1, orNone(e.TaskID, "no task_id"), orNone(e.Timestamp, "no timestamp"))
		})
		d.places[[2]string{"", e.Timestamp}] = i
		d.places[[2]string{e.TaskID, e.Timestamp}] = i
	}
	for _, f := range about {
		d.finding(r, f)
	}
	return d.finish()
}

// run is the lane of a run, by order of first appearance.
func (d *logDrawing) run(id string) *lane {
	if l, known := d.runs[id]; known {
		return l
	}
	if len(d.runs) >= maxLanes {
		if d.others == nil {
			d.others = d.lane("other runs")
		}
		return d.others
	}
	name := "run " + runName(id)
	if id == "" {
		name = "entries without a run"
	}
	d.runs[id] = d.lane(name)
	return d.runs[id]
}

// finding marks what a finding speaks of: the entry at the tip that has the
// same task and time, or the same time, or the same place in the file; an
// entry that is not at the tip has a lane apart.
func (d *logDrawing) finding(r *finding.Report, n numberedFinding) {
	f := n.finding
	title := func() string { return fmt.Sprintf("finding %d: %s", n.number, clip(f.Rule, maxName)) }
	for _, e := range []*finding.EntryRef{f.Entry, f.EntryAfter} {
		if e == nil || e.Timestamp == "" {
			continue
		}
		i, there := d.places[[2]string{e.TaskID, e.Timestamp}]
		if !there {
			i, there = d.places[[2]string{"", e.Timestamp}]
		}
		if there {
			d.mark(d.lanes[i], d.times[i], findingClass(f), "#"+n.id(), title)
			return
		}
	}
	if f.Entry != nil {
		at := readTime(f.Entry.Timestamp)
		if at.IsZero() {
			return
		}
		if d.gone == nil {
			d.gone = d.lane("entries that are not in this log")
		}
		d.entry(d.gone, at, "gone", func() string { return "entry as it was: " + entryFact(f.Entry) })
		d.mark(d.gone, at, findingClass(f), "#"+n.id(), title)
		return
	}
	if i := d.atLine(r, f); i >= 0 {
		d.mark(d.lanes[i], d.times[i], findingClass(f), "#"+n.id(), title)
	}
}

// atLine is the tip's entry in which a finding's line is, -1 if the finding is
// not about the tip.
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
	for s := range sides {
		side := &sides[s]
		lane := t.lane(orNone(side.Name, "no name"))
		for i := range side.Entries {
			e := &side.Entries[i]
			t.entry(lane, readTime(e.Timestamp), "entry", func() string { return "entry " + entryFact(e) })
		}
		lane.count += side.More
	}
	return t.finish()
}
