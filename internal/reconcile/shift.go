package reconcile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// follow is a side of one's own as it comes after ours: only the entries that ours lacks, with a time just after the one before where it is not later.
func (l *log) follow(v, ours *version) (*version, error) {
	there := l.classes(ours.items)
	own := slices.DeleteFunc(slices.Clone(v.items), func(it item) bool { return there[l.class(it)] })
	var last time.Time
	for _, it := range ours.items {
		if at, ok := ledger.ParseInstant(it.Entry.Timestamp); ok && at.After(last) {
			last = at
		}
	}
	times := map[int]string{}
	for _, it := range own {
		at, ok := ledger.ParseInstant(it.Entry.Timestamp)
		if !ok {
			continue // said where the times are compared
		}
		if !at.After(last) {
			at = last.Add(time.Nanosecond)
			times[it.at] = at.UTC().Format(timestampForm)
			l.moved[it.Digest] = true
		}
		last = at
	}
	if len(times) == 0 {
		v.items = own
		v.ledger = ledgerOf(own)
		return v, nil
	}
	data, err := l.retimed(v, times)
	if err != nil {
		return nil, err
	}
	moved := *v.Version
	moved.Data = data
	out, err := l.parse(&moved)
	if err != nil || len(out.items) != len(v.doc.Root.Get("entries").Items) {
		return nil, l.untimed(v, err)
	}
	all := out.items
	out.items = nil
	for _, it := range own {
		want := it.Digest
		if text, changed := times[it.at]; changed {
			want = small.EntryDigest(withTime(it.value, text))
		}
		if all[it.at].Digest != want {
			return nil, l.untimed(v, nil)
		}
		out.items = append(out.items, all[it.at])
	}
	out.ledger = ledgerOf(out.items)
	return out, nil
}

// retimed is the text of a version with other times for some entries, by their index.
func (l *log) retimed(v *version, times map[int]string) ([]byte, error) {
	lines := splitLines(v.Data)
	for at, text := range times {
		value := v.doc.Root.Get("entries").Items[at].Get("timestamp")
		i := value.Pos.Line - 1
		if i < 0 || i >= len(lines) {
			return nil, l.untimed(v, nil)
		}
		runes := []rune(string(lines[i]))
		start := len(string(runes[:min(max(value.Pos.Column-1, 0), len(runes))]))
		old := strings.TrimSpace(value.Text)
		before, rest := lines[i][:start], lines[i][start:]
		if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
			before, rest = lines[i][:start+1], rest[1:]
		}
		if !bytes.HasPrefix(rest, []byte(old)) {
			return nil, l.untimed(v, nil)
		}
		lines[i] = slices.Concat(before, []byte(text), rest[len(old):])
	}
	return join(lines), nil
}

// withTime is an entry with another timestamp.
func withTime(entry *small.Value, text string) *small.Value {
	out := *entry
	out.Fields = slices.Clone(entry.Fields)
	for i, f := range out.Fields {
		if f.Key == "timestamp" && f.Named() {
			changed := *f.Value
			changed.Text = text
			out.Fields[i].Value = &changed
		}
	}
	return &out
}

// untimed is the failure of an entry whose time cannot be moved.
func (l *log) untimed(v *version, err error) error {
	f := l.uncopied(fmt.Sprintf("an entry of %s needs a later time, and its timestamp is not written plainly", v.Name))
	f.Err = err
	return f
}
