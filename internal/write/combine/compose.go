package combine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Entry is a new entry, as pairs of a key and a text.
type Entry [][2]string

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
		{"timestamp", timeOfNew(result, l.Now).Format(TimestampForm)},
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

// compose assembles the items' texts, followed by the new entry, if any, in the form of one side. An entry keeps the text of the first side
// with the same form; otherwise, or if anew is true, it is written anew.
func (l *log) compose(items []item, entry Entry, anew bool) ([]byte, error) {
	sides, bases := l.takenApart(l.versions), l.takenApart(l.bases)
	if len(sides) == 0 {
		return nil, l.errCannotCopy("no side has its entries one per dash, each on lines of its own")
	}
	// The text before and after the entries is from the first side that has changed it.
	form := sides[max(slices.IndexFunc(sides, func(one *layout) bool { return !slices.ContainsFunc(bases, one.framedLike) }), 0)]
	var texts [][]byte
	for _, it := range items {
		var text []byte
		if text = form.textIn(sides, it); anew || text == nil {
			text = itemText(it.value, form.column, form.end)
		}
		texts = append(texts, text)
	}
	if entry != nil {
		texts = append(texts, entry.text(form.column, form.end))
	}
	return form.join(texts, nil), nil
}

// textIn is an item's text in the first of some sides that has the form of this layout; nil if there is none. Another side's anchors may
// mean something else here, and a text without a line break at the end of its file may change if it gets one.
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

// takenApart are the layouts of the versions that can be taken apart.
func (l *log) takenApart(versions []*version) (out []*layout) {
	for _, v := range versions {
		if v.written == nil {
			continue
		}
		one, err := takeApart(v.Data, v.doc)
		if err == nil {
			one.of = v
			out = append(out, one)
		}
	}
	return out
}

// Ended is a text whose last line has a line end.
func Ended(text []byte, end string) []byte {
	if len(text) == 0 || strings.ContainsRune("\n\r", rune(text[len(text)-1])) {
		return text
	}
	return append(text, end...)
}
