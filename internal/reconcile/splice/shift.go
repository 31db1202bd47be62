package splice

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// follow is a side of one's own as it comes after ours: an entry that ours lacks has a time just after the one before it where its own
// time is not later.
func (l *log) follow(v, ours *version) (*version, error) {
	there := l.classes(ours.items)
	var last time.Time
	for _, it := range ours.items {
		if at, ok := ledger.ParseInstant(it.Entry.Timestamp); ok && at.After(last) {
			last = at
		}
	}
	times := map[int]string{}
	for _, it := range v.items {
		at, ok := ledger.ParseInstant(it.Entry.Timestamp)
		if !ok || there[l.class(it)] {
			continue // an invalid time is reported where times are compared
		}
		if !at.After(last) {
			at = last.Add(time.Nanosecond)
			times[it.at] = at.UTC().Format(TimestampForm)
			l.moved[it.Digest] = true
		}
		last = at
	}
	if len(times) == 0 {
		return v, nil
	}
	var out *version
	for _, move := range []bool{true, false} {
		if data := retimed(v, times, move); data != nil {
			if out = l.reread(v, data, times); out != nil {
				return out, nil
			}
		}
	}
	return nil, l.uncopied(fmt.Sprintf("an entry of %s needs a later time, and its timestamp is not written plainly", v.Name))
}

// reread reads a version back after its text got other times; nil if anything else has changed.
func (l *log) reread(v *version, data []byte, times map[int]string) *version {
	moved := *v.Version
	moved.Data = data
	out, err := l.parse(&moved)
	if err != nil || len(out.items) != len(v.doc.Root.Get("entries").Items) {
		return nil
	}
	all := out.items
	out.items = nil
	for _, it := range v.items {
		want := it.Digest
		if text, changed := times[it.at]; changed {
			want = small.EntryDigest(withTime(it.value, text))
		}
		if all[it.at].Digest != want {
			return nil
		}
		out.items = append(out.items, all[it.at])
	}
	out.ledger = ledgerOf(out.items)
	return out
}

// retimed is the text of a version with other times for some entries, by their index; nil if it is not written so that it can be cut. With
// move, the timestamp becomes the last line of its entry, as the protocol's own program has it: then git, which merges line by line,
// stops at the next commit that appends, and does not put an earlier time behind this one.
func retimed(v *version, times map[int]string, move bool) []byte {
	list := v.doc.Root.Get("entries")
	lines := Lines(v.Data)
	starts, err := dashes(lines, list, list.Pos.Column)
	if err != nil {
		return nil
	}
	for at, text := range times {
		value := list.Items[at].Get("timestamp")
		i := value.Pos.Line - 1
		line := timeReplaced(lines[i], value.Pos.Column-1, value.Text, text)
		block := line == nil // a text of lines, which begins below its key
		if block {
			if i++; i == len(lines) {
				return nil
			}
			if line = timeReplaced(lines[i], indentOf(lines[i]), value.Text, text); line == nil {
				return nil
			}
		}
		lines[i] = line
		if !move || block || i == starts[at] {
			continue
		}
		end := len(lines)
		if at+1 < len(starts) {
			end = starts[at+1]
		}
		for end-1 > i && isRemark(lines[end-1]) {
			end--
		}
		copy(lines[i:end], lines[i+1:end])
		lines[end-1] = line
	}
	return Join(lines)
}

// timeReplaced is a line with another time from a column on, counted in characters from 0; nil if the old one is not written there
// plainly.
func timeReplaced(line []byte, column int, old, text string) []byte {
	runes := []rune(string(line))
	start := len(string(runes[:min(max(column, 0), len(runes))]))
	if rest := line[start:]; len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
		start++
	}
	after, found := bytes.CutPrefix(line[start:], []byte(strings.TrimSpace(old)))
	if !found {
		return nil
	}
	return slices.Concat(line[:start], []byte(text), after)
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
