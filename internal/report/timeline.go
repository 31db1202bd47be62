package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

const (
	// columns is how many places across a timeline has; what falls into one
	// is drawn as one mark, so that a long log stays a small page.
	columns = 400
	// width of a strip in its own units.
	stripWidth = 1000
	// maxLanes is how many runs have a lane of their own.
	maxLanes = 24
)

// timeline is a drawing of entries: time goes across, each lane is a run or a
// branch.
type timeline struct {
	Lanes []*lane
	// Grid says that quarters are drawn; Axis are the labels below, evenly
	// spread.
	Grid bool
	Axis []string

	from, to float64 // seconds
	layout   string  // how times are written
}

// lane is one strip.
type lane struct {
	Name, Note string
	Marks      []*mark

	at          map[laneKey]*mark
	count       int
	first, last time.Time
}

type laneKey struct {
	column int
	class  string
}

// mark is one dot, which may stand for several entries.
type mark struct {
	X     int
	Class string
	Title string
	Href  string

	count int
}

// newTimeline spans the times given; those that are zero do not count.
func newTimeline(times []time.Time) *timeline {
	t := &timeline{layout: "2006-01-02 15:04"}
	var first, last time.Time
	for _, at := range times {
		if at.IsZero() {
			continue
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if last.IsZero() || at.After(last) {
			last = at
		}
	}
	t.from, t.to = seconds(first), seconds(last)
	if first.IsZero() {
		t.Axis = []string{"no entry has a time"}
		return t
	}
	if t.to-t.from < 3*60*60 {
		t.layout = time.DateTime
	}
	if !first.Before(last) {
		t.Axis = []string{t.short(first)}
		return t
	}
	t.Grid = true
	middle := time.Unix(int64(t.from+(t.to-t.from)/2), 0)
	t.Axis = []string{t.short(first), t.short(middle), t.short(last)}
	return t
}

// seconds is a time as a number that does not overflow.
func seconds(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())/1e9 }

// short is a time as exact as the drawing.
func (t *timeline) short(at time.Time) string { return at.UTC().Format(t.layout) }

// column is the place of a time, in the middle where all times are the same.
func (t *timeline) column(at time.Time) int {
	if t.to <= t.from {
		return columns / 2
	}
	share := (seconds(at) - t.from) / (t.to - t.from)
	return int(min(max(share, 0), 1)*columns + 0.5)
}

// lane adds a lane.
func (t *timeline) lane(name string) *lane {
	l := &lane{Name: name, at: map[laneKey]*mark{}}
	t.Lanes = append(t.Lanes, l)
	return l
}

// mark puts a mark of a class into a lane, or counts it with the one that is
// there, which keeps its title and where it leads to.
func (t *timeline) mark(l *lane, at time.Time, class, href string, title func() string) {
	key := laneKey{t.column(at), class}
	m, known := l.at[key]
	if !known {
		m = &mark{X: key.column * stripWidth / columns, Class: class, Title: title(), Href: href}
		l.at[key] = m
		l.Marks = append(l.Marks, m)
	}
	if m.count++; m.count == 2 {
		m.Title += " and others"
	}
}

// entry marks an entry and takes it into the lane's account.
func (t *timeline) entry(l *lane, at time.Time, class string, title func() string) {
	t.mark(l, at, class, "", title)
	if l.count++; l.count == 1 || at.Before(l.first) {
		l.first = at
	}
	if l.count == 1 || at.After(l.last) {
		l.last = at
	}
}

// finish writes the notes of the lanes and puts what is graver on top.
func (t *timeline) finish() *timeline {
	over := map[string]int{"warn": 1, "bad": 2}
	for _, l := range t.Lanes {
		slices.SortStableFunc(l.Marks, func(a, b *mark) int { return cmp.Compare(over[a.Class], over[b.Class]) })
		switch {
		case l.count == 0:
		case l.first.IsZero():
			l.Note = entryCount(l.count)
		case t.short(l.first) == t.short(l.last):
			l.Note = entryCount(l.count) + ", " + t.short(l.first)
		default:
			l.Note = fmt.Sprintf("%s, %s to %s", entryCount(l.count), t.short(l.first), t.short(l.last))
		}
	}
	return t
}

// entryTimes are the times of a log's entries. An entry whose time cannot be
// read stands where the one before it stands.
func entryTimes(log []finding.LogEntry) []time.Time {
	out := make([]time.Time, len(log))
	var before time.Time
	for i := range log {
		if at := readTime(log[i].Timestamp); !at.IsZero() {
			before = at
		}
		out[i] = before
	}
	return out
}

// readTime reads a timestamp; zero if it is none.
func readTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at
}
