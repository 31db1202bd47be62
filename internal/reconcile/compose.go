package reconcile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/small"
)

// timestampForm is RFC 3339 with nanoseconds, as the protocol's entries have it.
const timestampForm = "2006-01-02T15:04:05.000000000Z"

// newEntry is the entry that makes a resolution explicit, as pairs of a key and
// a value that is to be quoted.
type newEntry [][2]string

// entry makes the entry behind all others: its time is now, or a nanosecond
// after the last one's where that is later.
func (l *log) entry(items []item, brought []int, now time.Time) (newEntry, error) {
	at := now.UTC()
	for _, it := range items {
		if when, ok := gate.Instant(it.Entry); ok && !when.Before(at) {
			at = when.UTC().Add(time.Nanosecond)
		}
	}
	if at.After(now.Add(gate.FutureTolerance)) {
		return nil, &gate.Failure{
			Message: fmt.Sprintf("%s: an entry is dated %s, ahead of now (%s): nothing honest can follow it", l.path,
				at.Add(-time.Nanosecond).Format(time.RFC3339Nano), now.UTC().Format(time.RFC3339)),
			Remedy: "correct the clock of this machine; or record that entry again on its side, with the time of recording, then merge again",
		}
	}
	sides := make([]string, len(l.versions))
	for i, v := range l.versions {
		name := v.Name
		switch {
		case v.ID != "" && strings.HasPrefix(v.ID, v.Name):
			name = "commit " + v.ID
		case v.ID != "":
			name += " at " + v.ID
		}
		sides[i] = fmt.Sprintf("%s (%s)", name, count(brought[i]))
	}
	last := len(sides) - 1
	return newEntry{
		{"task_id", small.ReconcileTask},
		{"timestamp", at.Format(timestampForm)},
		{"status", "completed"},
		{"evidence", "merged " + strings.Join(sides[:last], ", ") + " and " + sides[last]},
	}, nil
}

// count is a number of entries in words.
func count(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// text writes the entry as an item whose dash stands at a column. YAML reads
// Go's escapes in double quotes as Go does.
func (e newEntry) text(column int, end string) []byte {
	var out bytes.Buffer
	lead := strings.Repeat(" ", column-1) + "- "
	for _, pair := range e {
		out.WriteString(lead + pair[0] + ": " + strconv.Quote(strings.ToValidUTF8(pair[1], "?")) + end)
		lead = strings.Repeat(" ", column+1)
	}
	return out.Bytes()
}

// composer puts a log's text together from those of the sides.
type composer struct {
	*log
	// form is the layout that the result has.
	form *layout
	// sides and bases are what could be taken apart, by version.
	sides, bases map[*version]*layout
	// prefer is the version whose text is taken wherever it has one, nil for none.
	prefer *version
	// whole is true if of several texts one is taken as it is, false if their
	// lines are merged.
	whole bool
	// clashed is true if sides changed the same lines, other than comments.
	clashed bool
}

// compose puts the items' texts together in the form of the first side that has
// one, and the new entry behind them.
func (l *log) compose(items []item, entry newEntry, how manner) (*composed, error) {
	c := &composer{log: l, prefer: how.prefer, whole: how.whole, sides: map[*version]*layout{}, bases: map[*version]*layout{}}
	for _, v := range l.versions {
		if v.doc == nil {
			continue
		}
		one, err := takeApart(v.Data, v.doc, how.leads)
		if errors.Is(err, errNoItems) {
			continue
		}
		if err != nil {
			return nil, l.uncopied(v.Name + ": " + err.Error())
		}
		c.sides[v] = one
		if c.form == nil {
			c.form = one
		}
	}
	if c.form == nil {
		return nil, l.uncopied("no side has an entry")
	}
	if c.sides[how.prefer] == nil {
		c.prefer = nil
	}
	for _, v := range l.bases {
		if v.doc == nil {
			continue
		}
		if one, err := takeApart(v.Data, v.doc, how.leads); err == nil {
			c.bases[v] = one
		}
	}
	out := bytes.Clone(c.around(func(one *layout) []byte { return one.header }))
	for _, it := range items {
		text, err := c.textOf(it)
		if err != nil {
			return nil, err
		}
		out = append(ended(out, c.form.end), text...)
	}
	if entry != nil {
		out = append(ended(out, c.form.end), entry.text(c.form.column, c.form.end)...)
	}
	if footer := c.around(func(one *layout) []byte { return one.footer }); len(footer) > 0 {
		out = append(ended(out, c.form.end), footer...)
	}
	return &composed{text: out, clashed: c.clashed}, nil
}

// manner is how texts are put together.
type manner struct {
	// leads is true if comments above an entry belong to it.
	leads bool
	// prefer and whole are a composer's.
	prefer *version
	whole  bool
}

// composed is a text that was put together.
type composed struct {
	text    []byte
	clashed bool
}

// textOf is an entry's text with its comments, in the form of the result. Where
// several sides have the entry, what was changed since they parted is taken.
func (c *composer) textOf(it item) ([]byte, error) {
	var texts, old [][]byte
	for _, v := range c.versions {
		text, err := c.formed(c.sides[v], v, it)
		if err != nil {
			return nil, err
		}
		switch {
		case text == nil:
		case v == c.prefer && c.whole:
			return text, nil
		case v == c.prefer:
			texts = slices.Insert(texts, 0, text)
		default:
			texts = append(texts, text)
		}
	}
	for _, v := range c.log.bases {
		if text, err := c.formed(c.bases[v], v, it); err == nil && text != nil {
			old = append(old, text)
		}
	}
	return c.pick(texts, old), nil
}

// formed is a version's text of an entry in the form of the result, nil if the
// version has no such entry.
func (c *composer) formed(one *layout, v *version, it item) ([]byte, error) {
	at, there := v.places[it.Digest]
	if v == it.from {
		at, there = it.at, true
	}
	if one == nil || !there {
		return nil, nil
	}
	text, ok := indented(one.entries[at], c.form.column-one.column)
	if !ok {
		return nil, c.uncopied(fmt.Sprintf("%s of %s cannot be indented as the others are", gate.EntryWords(it.Entry), v.Name))
	}
	return ended(withLineEnd(text, one.end, c.form.end), c.form.end), nil
}

// around picks what stands before or behind the entries.
func (c *composer) around(of func(*layout) []byte) []byte {
	var texts, old [][]byte
	for _, v := range c.versions {
		one := c.sides[v]
		switch {
		case one == nil || c.whole && c.prefer != nil && v != c.prefer:
		case v == c.prefer:
			texts = slices.Insert(texts, 0, withLineEnd(of(one), one.end, c.form.end))
		default:
			texts = append(texts, withLineEnd(of(one), one.end, c.form.end))
		}
	}
	for _, v := range c.log.bases {
		if one := c.bases[v]; one != nil {
			old = append(old, withLineEnd(of(one), one.end, c.form.end))
		}
	}
	return c.pick(texts, old)
}

// pick brings together what stands at one place. A text that is an old one still
// has nothing to say; of the others the lines are merged, or the first is taken.
func (c *composer) pick(texts, old [][]byte) []byte {
	in := func(list [][]byte, text []byte) bool {
		return slices.ContainsFunc(list, func(other []byte) bool { return bytes.Equal(other, text) })
	}
	var fresh [][]byte
	for _, text := range texts {
		if !in(old, text) && !in(fresh, text) {
			fresh = append(fresh, text)
		}
	}
	if len(fresh) == 0 {
		return texts[0]
	}
	if c.whole {
		c.clashed = c.clashed || len(fresh) > 1
		return fresh[0]
	}
	var origin [][]byte
	if len(old) > 0 {
		origin = splitLines(old[0])
	}
	out := splitLines(fresh[0])
	for _, text := range fresh[1:] {
		var clash bool
		out, clash = merge3(origin, out, splitLines(text))
		c.clashed = c.clashed || clash
	}
	return join(out)
}

// ended is a text with its last line ended.
func ended(text []byte, end string) []byte {
	if len(text) == 0 || strings.ContainsRune("\n\r", rune(text[len(text)-1])) {
		return text
	}
	return append(text, end...)
}
