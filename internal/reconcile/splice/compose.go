package splice

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/wording"
)

// TimestampForm is RFC 3339 with nanoseconds, as the protocol's entries have it.
const TimestampForm = "2006-01-02T15:04:05.000000000Z"

// Entry is a new entry, as pairs of a key and a text.
type Entry [][2]string

// timeAfter is the time of a new last entry: up to a millisecond after now, or after the latest entry if that is later. Two writers who
// record at one instant hardly ever get the same time so, and no entry is further ahead of the last one than the gate allows.
func timeAfter(l *ledger.Ledger, now time.Time) time.Time {
	at := now.UTC()
	for _, e := range l.Entries {
		if last, ok := ledger.ParseInstant(e.Timestamp); ok && last.After(at) {
			at = last.UTC()
		}
	}
	return at.Add(time.Duration(1 + rand.IntN(999_999)))
}

// entry makes the entry that makes a resolution explicit.
func (l *log) entry(result *ledger.Ledger, brought []int) Entry {
	sides := make([]string, len(l.versions))
	for i, v := range l.versions {
		name := v.Name
		switch {
		case v.ID != "" && strings.HasPrefix(v.ID, v.Name):
			name = "commit " + v.ID
		case v.ID != "":
			name += " at " + v.ID
		}
		sides[i] = fmt.Sprintf("%s (%s)", name, wording.Count(brought[i], "entry"))
	}
	return Entry{
		{"task_id", ledger.ReconcileTask},
		{"timestamp", timeAfter(result, l.Now).Format(TimestampForm)},
		{"status", "completed"},
		{"evidence", "merged " + wording.List(sides, "and")},
	}
}

// text writes the entry as an item whose dash is at a column. YAML reads Go's escapes in double quotes as Go does.
func (e Entry) text(column int, end string) []byte {
	var out bytes.Buffer
	lead := strings.Repeat(" ", column-1) + "- "
	for _, pair := range e {
		out.WriteString(lead + pair[0] + ": " + strconv.Quote(strings.ToValidUTF8(pair[1], "?")) + end)
		lead = strings.Repeat(" ", column+1)
	}
	return out.Bytes()
}

// strategy is one way to put texts together.
type strategy struct {
	// leads is true if comments above an entry belong to it.
	leads bool
	// prefer is the version whose text is taken where it has one; nil for ours.
	prefer *version
}

// composer puts a log's text together from those of the sides.
type composer struct {
	*log
	strategy
	// layouts are those of the sides that have entries, the preferred one first. The result has its form.
	layouts []*layout
	bases   []*layout
}

// compose puts the items' texts together, and the new entry, if any, after them. An entry of several sides is taken from the first
// of them, with its comments.
func (l *log) compose(items []item, entry Entry, how strategy) ([]byte, error) {
	c, err := l.composer(how)
	if err != nil {
		return nil, err
	}
	form := c.layouts[0]
	out := bytes.Clone(c.around(func(one *layout) []byte { return one.header }))
	for _, it := range items {
		text, err := c.textOf(it)
		if err != nil {
			return nil, err
		}
		out = append(Ended(out, form.end), text...)
	}
	if entry != nil {
		out = append(Ended(out, form.end), entry.text(form.column, form.end)...)
	}
	if footer := c.around(func(one *layout) []byte { return one.footer }); len(footer) > 0 {
		out = append(Ended(out, form.end), footer...)
	}
	return out, nil
}

func (l *log) composer(how strategy) (*composer, error) {
	c := &composer{log: l, strategy: how}
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
		one.of = v
		at := len(c.layouts)
		if v == how.prefer {
			at = 0
		}
		c.layouts = slices.Insert(c.layouts, at, one)
	}
	if len(c.layouts) == 0 {
		return nil, l.uncopied("neither side has an entry")
	}
	for _, v := range l.bases {
		if v.doc == nil {
			continue
		}
		if one, err := takeApart(v.Data, v.doc, how.leads); err == nil {
			c.bases = append(c.bases, one)
		}
	}
	return c, nil
}

// textOf is an entry's text with its comments, indented as the result is.
func (c *composer) textOf(it item) ([]byte, error) {
	form := c.layouts[0]
	for _, one := range c.layouts {
		at, there := one.of.places[it.Digest]
		if one.of == it.from {
			at, there = it.at, true
		}
		if !there {
			continue
		}
		text, ok := indented(one.entries[at], form.column-one.column)
		if !ok {
			return nil, c.uncopied(fmt.Sprintf("%s of %s cannot be indented like the others", ledger.Describe(it.Entry), one.of.Name))
		}
		return Ended(withLineEnd(text, one.end, form.end), form.end), nil
	}
	return nil, c.uncopied(ledger.Describe(it.Entry) + " is in no side's text")
}

// around picks what is before or after the entries: the first text that has changed since the sides parted.
func (c *composer) around(of func(*layout) []byte) []byte {
	form := c.layouts[0]
	plain := func(one *layout) []byte { return withLineEnd(of(one), one.end, form.end) }
	if c.prefer != nil {
		return of(form)
	}
	for _, one := range c.layouts {
		text := plain(one)
		if !slices.ContainsFunc(c.bases, func(base *layout) bool { return bytes.Equal(plain(base), text) }) {
			return text
		}
	}
	return of(form)
}

// Ended is a text whose last line has an end.
func Ended(text []byte, end string) []byte {
	if len(text) == 0 || strings.ContainsRune("\n\r", rune(text[len(text)-1])) {
		return text
	}
	return append(text, end...)
}
