package splice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Kind says how to read a log's entries from its text, and how to write them. The zero Kind is the protocol's own log. The others are
// plain: their entries have no times, and no entry makes a resolution explicit.
type Kind struct {
	stanza *policy.Log
	isJSON bool
	// unique is true if the configuration rejects an entry that is added although an equal one is there.
	unique bool
}

// KindOf is the kind of the log at a path.
func KindOf(p *policy.Policy, path string) Kind {
	if p == nil {
		return Kind{}
	}
	k := Kind{stanza: p.LogFor(path), isJSON: strings.HasSuffix(path, ".json")}
	k.unique = k.Plain() && p.RejectsDoubles(k.stanza)
	return k
}

// Doubles are the entries of a log that must not be added: see [ledger.Doubles].
func (k Kind) Doubles(parents []*ledger.Ledger, child *ledger.Ledger) []ledger.Entry {
	if !k.unique {
		return nil
	}
	doubled, _ := ledger.Doubles(parents, child)
	return doubled
}

// Plain reports whether this is the kind of a log of the configuration.
func (k Kind) Plain() bool { return k.stanza != nil }

// OfLines reports whether each line is an entry.
func (k Kind) OfLines() bool { return k.Plain() && k.stanza.Entries == policy.LineEntries }

// OfText reports whether lines, or runs of lines, are entries.
func (k Kind) OfText() bool {
	return k.Plain() && (k.stanza.Entries == policy.LineEntries || k.stanza.Entries == policy.BlockEntries)
}

// OfFile reports whether the file itself is the only entry.
func (k Kind) OfFile() bool { return k.Plain() && k.stanza.Entries == policy.FileEntries }

// Read reads a log; the result is nil exactly if there are problems. nil data means no log.
func (k Kind) Read(data []byte, limits small.Limits) (*ledger.Log, []small.Problem) {
	switch {
	case !k.Plain():
		return ledger.ReadLog(data, limits)
	case data == nil:
		return nil, []small.Problem{{Message: "there is no such file"}}
	case k.OfFile():
		return k.stanza.Form().OfFile("", "", string(data), data), nil
	case k.OfText() && k.stanza.Form().Growing():
		return ledger.ReadLines(data)
	case k.OfText():
		return k.stanza.Form().Read(data)
	}
	items, problems := small.ParseItems(data, k.isJSON, k.stanza.At, limits)
	if problems != nil {
		return nil, problems
	}
	return k.stanza.Form().OfItems(items), nil
}

// values are the full entries of a readable log.
func (k Kind) values(data []byte, limits small.Limits) []*small.Value {
	if k.OfText() {
		return k.stanza.Form().Values(data)
	}
	items, _ := small.ParseItems(data, k.isJSON, k.stanza.At, limits)
	items, _ = k.stanza.Form().FinishedItems(items)
	return items
}

// takeApart cuts the text of a log into entries.
func (k Kind) takeApart(data []byte, log *ledger.Log) (*layout, error) {
	switch {
	case k.Plain() && (k.stanza.Form().NewestFirst || k.stanza.Form().OpenNewest || k.stanza.Form().Open != nil):
		return nil, errNotLast
	case k.OfText():
		return textApart(data, k.stanza.Form().Start), nil
	case log.Len() == 0:
		return nil, errNoItems
	case k.isJSON:
		return arrayApart(data, log)
	}
	return blockApart(data, log)
}

// textApart cuts a text into lines or, if start is not nil, into blocks. Blank lines belong to the entry before.
func textApart(data []byte, start *regexp.Regexp) *layout {
	out := &layout{end: LineEnd(data), blocks: start != nil}
	begin, at := 0, 0
	for line := range bytes.Lines(data) {
		if start == nil && len(bytes.TrimSpace(line)) > 0 || start != nil && start.Match(withoutEnd(line)) {
			if begin < at {
				out.cut(data[begin:at])
			}
			begin = at
			out.begun = true
		}
		at += len(line)
	}
	if begin < at {
		out.cut(data[begin:at])
	}
	return out
}

// cut adds the next part of a text: the text before the first entry, or an entry.
func (l *layout) cut(part []byte) {
	if !l.begun {
		l.header = part
		return
	}
	l.entries = append(l.entries, part)
}

// withoutEnd is a line without LF or CR LF.
func withoutEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// endedLine ends the last line of a text of lines, which changes no line.
func endedLine(text []byte, end string) []byte {
	switch {
	case len(text) == 0, bytes.HasSuffix(text, []byte("\n")):
		return text
	case bytes.HasSuffix(text, []byte("\r")):
		end = "\n"
	}
	return slices.Concat(text, []byte(end))
}

// blockApart cuts a YAML text at the items of a block list. Comments above an item belong to the one before it.
func blockApart(data []byte, log *ledger.Log) (*layout, error) {
	lines := Lines(data)
	out := &layout{end: LineEnd(data)}
	list := &small.Value{Kind: small.List}
	for _, e := range log.Entries {
		list.Items = append(list.Items, &small.Value{Pos: e.Pos})
	}
	for at := min(log.Entries[0].Pos.Line, len(lines)) - 1; at >= 0 && out.column == 0; at-- {
		switch column := indentOf(lines[at]) + 1; {
		case isDash(lines[at], column):
			out.column = column
		case at == log.Entries[0].Pos.Line-1 && column < log.Entries[0].Pos.Column:
			return nil, errFlow
		}
	}
	if out.column == 0 {
		return nil, errFlow
	}
	starts, err := dashes(lines, list, out.column)
	if err != nil {
		return nil, err
	}
	last := starts[len(starts)-1] + 1
	for last < len(lines) && (isBlank(lines[last]) || indentOf(lines[last]) >= out.column) {
		last++
	}
	for isBlank(lines[last-1]) {
		last--
	}
	out.header, out.footer = Join(lines[:starts[0]]), Join(lines[last:])
	for i, start := range starts {
		out.entries = append(out.entries, Join(lines[start:append(starts, last)[i+1]]))
	}
	return out, nil
}

// arrayApart cuts a JSON text at the elements of an array.
func arrayApart(data []byte, log *ledger.Log) (*layout, error) {
	out := &layout{end: LineEnd(data)}
	lines := Lines(data)
	at, line := 0, 1
	var starts, ends []int
	for _, e := range log.Entries {
		for ; line < e.Pos.Line; line++ {
			at += len(lines[line-1])
		}
		start := at + len(string([]rune(string(lines[line-1]))[:e.Pos.Column-1]))
		var element json.RawMessage
		if err := json.NewDecoder(bytes.NewReader(data[start:])).Decode(&element); err != nil {
			return nil, fmt.Errorf("line %d: %w", e.Pos.Line, err)
		}
		starts, ends = append(starts, start), append(ends, start+len(element))
		out.entries = append(out.entries, data[start:start+len(element)])
	}
	out.header, out.footer = data[:starts[0]], data[ends[len(ends)-1]:]
	if len(starts) > 1 {
		out.separator = data[ends[0]:starts[1]]
	} else {
		out.separator = slices.Concat([]byte(","), out.header[bytes.LastIndexByte(out.header, '[')+1:])
	}
	return out, nil
}

// carry is the text of an entry of another layout, or of this one, in the form of this one; nil if it does not fit.
func (l *layout) carry(from *layout, at int) []byte {
	text := slices.Clip(from.entries[at])
	switch {
	case l.separator != nil || from.separator != nil:
		if l.separator == nil || from.separator == nil {
			return nil
		}
		return text
	case l.column == 0 && (l == from || l.blocks):
		return endedLine(text, l.end)
	case l.column == 0:
		line, _, _ := bytes.Cut(text, []byte("\n"))
		return slices.Concat(withoutEnd(line), []byte(l.end))
	case l == from:
		return Ended(text, l.end)
	case l.column == from.column && l.end == from.end:
		return Ended(text, l.end)
	}
	return nil
}

// join is the text of a log with these entries.
func (l *layout) join(entries [][]byte) []byte {
	return slices.Concat(l.header, bytes.Join(entries, l.separator), l.footer)
}

// PutBack puts back the entries of an old log that a file in its place changed, lost or moved: see [PutBackOf]. In a plain log, an entry
// that replaces lost ones before entries that were kept is a changed version. Entries after the kept ones are new, and stay.
func (k Kind) PutBack(old, file []byte, accepts func(parent, child *ledger.Ledger) bool, limits small.Limits) (PutBack, error) {
	var out PutBack
	before, problems := k.Read(old, limits)
	if before == nil {
		return out, fmt.Errorf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message)
	}
	there := &ledger.Log{Ledger: ledger.NewLedger(nil)}
	if file != nil {
		text := file
		if !small.HasConflictMarkers(old, small.MarkerSize) {
			text = withoutMarkers(file)
		}
		if log, problems := k.Read(text, limits); log == nil {
			out.Unreadable = fmt.Sprintf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message)
		} else if there = log; accepts(before.Ledger, there.Ledger) && len(text) == len(file) {
			return out, nil
		}
		file = text
	}
	out.Lost, out.Text = ledger.Only(before.Ledger, there.Ledger, ledger.Equivalence{}), old
	out.Gone = out.Lost
	if k.OfFile() {
		return out, nil
	}
	fresh, err := k.fresh(&out, before, there, old, file, limits)
	for _, e := range k.Doubles([]*ledger.Ledger{before.Ledger}, there.Ledger) {
		if at := slices.Index(fresh, e.Index); at >= 0 {
			fresh, out.Doubled = slices.Delete(fresh, at, at+1), append(out.Doubled, e)
		}
	}
	if err != nil || len(fresh) == 0 {
		return out, err
	}
	if text := k.extended(before, there, old, file, fresh, limits); text != nil {
		out.Text, out.New = text, len(fresh)
	} else {
		out.Left, out.Alike = ledger.Pick(there.Ledger, fresh), nil
	}
	return out, nil
}

// fresh are the indexes of a file's entries that are not in an old log. It notes changed versions of old ones, which are not fresh. At the end
// of the file it is not known whether a version was changed, or deleted and followed by a new entry: there it is fresh, so that nothing is lost.
func (k Kind) fresh(out *PutBack, before, there *ledger.Log, old, file []byte, limits small.Limits) (fresh []int, err error) {
	left := map[small.Digest]int{}
	for _, e := range before.Entries {
		left[e.Digest]++
	}
	last := -1
	for i, e := range there.Entries {
		if left[e.Digest]--; left[e.Digest] < 0 {
			fresh = append(fresh, i)
		} else {
			last = i
		}
	}
	if len(fresh) == 0 || len(out.Lost) == 0 {
		return fresh, nil
	}
	compared, err := ledger.Compare(before.Ledger, there.Ledger, ledger.CompareOptions{
		OldRecords: func() ([]*small.Value, error) { return k.values(old, limits), nil },
		NewRecords: func() ([]*small.Value, error) { return k.values(file, limits), nil },
	})
	if err != nil {
		return nil, err
	}
	for _, x := range compared.OfKind(ledger.EditModified) {
		switch at := slices.Index(fresh, x.NewIndex); {
		case at >= 0 && x.NewIndex > last:
			out.Alike = append(out.Alike, there.Entries[x.NewIndex])
		case at >= 0:
			out.Changed = append(out.Changed, there.Entries[x.NewIndex])
			fresh = slices.Delete(fresh, at, at+1)
			out.Gone = slices.DeleteFunc(slices.Clone(out.Gone), func(e ledger.Entry) bool { return e.Index == x.OldIndex })
		}
	}
	return fresh, nil
}

// extended is an old text followed by entries of a file; nil if their text cannot be carried over.
func (k Kind) extended(before, there *ledger.Log, old, file []byte, fresh []int, limits small.Limits) []byte {
	form, err := k.takeApart(old, before)
	if err != nil {
		return nil
	}
	from, err := k.takeApart(file, there)
	if err != nil {
		return nil
	}
	var texts [][]byte
	for i := range form.entries {
		texts = append(texts, form.carry(form, i))
	}
	if k.OfText() { // every byte stays
		form.header, texts = endedLine(old, form.end), nil
	}
	for _, at := range fresh {
		text := form.carry(from, at)
		if text == nil {
			return nil
		}
		texts = append(texts, text)
	}
	text := form.join(texts)
	after, _ := k.Read(text, limits)
	if after == nil || after.Len() != before.Len()+len(fresh) || !after.Extends(before.Ledger) {
		return nil
	}
	return text
}

// AppendLine appends a line to a log of lines, leaving every byte before it unchanged, except that a last line without a line end gets one.
func (k Kind) AppendLine(path string, data []byte, line string) ([]byte, error) {
	switch {
	case !k.OfLines():
		return nil, &failure.Error{
			Message: wording.Printable(path) + " is no log of lines",
			Remedy:  "append to it with an editor, under small-hook guard; --line is for logs that the configuration reads as lines",
		}
	case line == "" || strings.ContainsAny(line, "\r\n"):
		return nil, &failure.Error{Message: "an entry is one line, with something in it", Remedy: "give --line a text without line breaks"}
	case small.IsLFSPointer(data):
		return nil, &failure.Error{Message: wording.Printable(path) + ": " + small.LFSPointer.Message, Remedy: small.LFSPointer.Hint}
	}
	end := LineEnd(data)
	return slices.Concat(endedLine(data, end), []byte(line+end)), nil
}

// Holds reports whether a plain log has all entries of its parents, in each parent's order, followed by those that no parent has.
func Holds(parents []*ledger.Ledger, child *ledger.Ledger, keeps func(parent, child *ledger.Ledger) bool) bool {
	known := map[small.Digest]bool{}
	for _, p := range parents {
		for _, e := range p.Entries {
			known[e.Digest] = true
		}
		if !keeps(p, child) {
			return false
		}
	}
	isNew := func(e ledger.Entry) bool { return !known[e.Digest] }
	first := slices.IndexFunc(child.Entries, isNew)
	return first < 0 || !slices.ContainsFunc(child.Entries[first:], func(e ledger.Entry) bool { return known[e.Digest] })
}
