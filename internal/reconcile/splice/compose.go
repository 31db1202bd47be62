package splice

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
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

// text writes the entry as an item whose dash is at a column.
func (e Entry) text(column int, end string) []byte {
	out := small.Value{Kind: small.Map}
	for _, pair := range e {
		out.Fields = append(out.Fields, small.Field{Key: pair[0], Value: &small.Value{Kind: small.String, Text: strings.ToValidUTF8(pair[1], "?")}})
	}
	return itemText(&out, column, end)
}

// compose puts the items' texts together, and the new entry, if any, after them, in the form of one side. An entry keeps the text of the
// first side that is written alike; else, and always if anew is true, it is written anew.
func (l *log) compose(items []item, entry Entry, anew bool) ([]byte, error) {
	sides, bases := takenApart(l.versions), takenApart(l.bases)
	if len(sides) == 0 {
		return nil, l.uncopied("no side has its entries one per dash, each on lines of its own")
	}
	// What is before and after the entries is that of the first side that has changed it.
	form := sides[max(slices.IndexFunc(sides, func(one *layout) bool { return !slices.ContainsFunc(bases, one.framedLike) }), 0)]
	out := bytes.Clone(form.header)
	for _, it := range items {
		text := form.textIn(sides, it)
		if anew || text == nil {
			text = itemText(it.value, form.column, form.end)
		}
		out = append(out, text...)
	}
	if entry != nil {
		out = append(out, entry.text(form.column, form.end)...)
	}
	return append(out, form.footer...), nil
}

// textIn is an item's text in the first of some sides that is written as the log of this layout is; nil if there is none. Another side's
// anchors may be something else here, and a text without a line break at the end of its file may change with one.
func (l *layout) textIn(sides []*layout, it item) []byte {
	for _, one := range sides {
		at, there := one.of.places[it.Digest]
		alike := one == l || one.column == l.column && one.end == l.end && !one.of.doc.Linked()
		if there && alike && bytes.HasSuffix(one.entries[at], []byte(l.end)) {
			return one.entries[at]
		}
	}
	return nil
}

// takenApart are the layouts of those versions that have one.
func takenApart(versions []*version) (out []*layout) {
	for _, v := range versions {
		if v.doc == nil {
			continue
		}
		if one, err := takeApart(v.Data, v.doc); err == nil {
			one.of = v
			out = append(out, one)
		}
	}
	return out
}

// Ended is a text whose last line has an end.
func Ended(text []byte, end string) []byte {
	if len(text) == 0 || strings.ContainsRune("\n\r", rune(text[len(text)-1])) {
		return text
	}
	return append(text, end...)
}
