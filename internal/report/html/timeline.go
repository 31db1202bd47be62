package html

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/wording"
)

const (
	// columns is how many places a timeline has. Entries in one are drawn as one
	// mark, so that a long log stays a small page.
	columns = 400
	// stripWidth is in the strip's own units.
	stripWidth = 1000
	// maxStrips is how many runs have a strip of their own.
	maxStrips = 24
)

// timeline is a drawing of entries: time goes across, each strip is a run or a
// branch.
type timeline struct {
	Strips []*strip
	// Grid says that quarters are drawn. Axis are the labels below, evenly spread.
	Grid bool
	Axis []string

	from, to float64 // seconds
	layout   string  // how times are written
}

type strip struct {
	Name, Note string
	Marks      []*mark

	at          map[markKey]*mark
	count       int
	first, last time.Time
}

type markKey struct {
	column int
	class  string
}

// mark is one dot, for one entry or several.
type mark struct {
	X     int
	Class string
	Title string
	Href  string

	count int
}

// newTimeline spans some times; those that are zero do not count.
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

// strip adds a strip.
func (t *timeline) strip(name string) *strip {
	s := &strip{Name: name, at: map[markKey]*mark{}}
	t.Strips = append(t.Strips, s)
	return s
}

// mark puts a mark of a class into a strip. One that is there already keeps its
// title and link, and counts it.
func (t *timeline) mark(s *strip, at time.Time, class, href string, title func() string) {
	key := markKey{t.column(at), class}
	m, known := s.at[key]
	if !known {
		m = &mark{X: key.column * stripWidth / columns, Class: class, Title: title(), Href: href}
		s.at[key] = m
		s.Marks = append(s.Marks, m)
	}
	if m.count++; m.count == 2 {
		m.Title += " and others"
	}
}

// entry marks an entry and counts it for the strip's note.
func (t *timeline) entry(s *strip, at time.Time, class string, title func() string) {
	t.mark(s, at, class, "", title)
	if s.count++; s.count == 1 || at.Before(s.first) {
		s.first = at
	}
	if s.count == 1 || at.After(s.last) {
		s.last = at
	}
}

// finish writes the strips' notes and puts graver marks on top.
func (t *timeline) finish() *timeline {
	over := map[string]int{"warn": 1, "bad": 2}
	for _, s := range t.Strips {
		slices.SortStableFunc(s.Marks, func(a, b *mark) int { return cmp.Compare(over[a.Class], over[b.Class]) })
		switch {
		case s.count == 0:
		case s.first.IsZero():
			s.Note = wording.Count(s.count, "entry")
		case t.short(s.first) == t.short(s.last):
			s.Note = wording.Count(s.count, "entry") + ", " + t.short(s.first)
		default:
			s.Note = fmt.Sprintf("%s, %s to %s", wording.Count(s.count, "entry"), t.short(s.first), t.short(s.last))
		}
	}
	return t
}

// entryTimes are the times of a log's entries. An entry whose time cannot be read
// has that of the one before it.
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
