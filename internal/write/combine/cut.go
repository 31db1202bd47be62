package combine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// takeApart cuts the text of a configured log into entries, in the order of the ledger: the oldest first.
func (k Kind) takeApart(data []byte, log *ledger.Log, limits small.Limits) (*layout, error) {
	out, places, err := k.cutEntries(data, limits)
	if err != nil {
		return nil, err
	}
	form := k.stanza.Form()
	if out.newestFirst = form.NewestFirst; out.newestFirst {
		slices.Reverse(out.entries)
		slices.Reverse(places)
	}
	finished := make(map[small.Pos]bool, log.Len())
	for _, e := range log.Entries {
		finished[e.Pos] = true
	}
	all := out.entries
	out.entries = nil
	for i, text := range all {
		if finished[places[i]] {
			out.entries = append(out.entries, text)
		} else {
			out.open = append(out.open, text)
		}
	}
	if len(out.entries) != log.Len() {
		return nil, errDashes
	}
	return out, nil
}

// cutEntries cuts the text of a configured log into finished and open entries, in the order of the file, and returns where each begins.
func (k Kind) cutEntries(data []byte, limits small.Limits) (*layout, []small.Pos, error) {
	if k.OfText() {
		out, places := cutText(data, k.stanza.Form().Start)
		return out, places, nil
	}
	items, problems := small.ParseItems(data, k.isJSON, k.stanza.At, limits)
	switch {
	case problems != nil:
		return nil, nil, fmt.Errorf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message)
	case len(items) == 0:
		return nil, nil, errNoItems
	}
	places := make([]small.Pos, len(items))
	for i, item := range items {
		places[i] = item.Pos
	}
	var out *layout
	var err error
	if k.isJSON {
		out, err = cutArray(data, places)
	} else {
		out, err = cutBlockList(data, places)
	}
	return out, places, err
}

// byteOrderMark may be at the beginning of a text. It is part of no entry.
var byteOrderMark = []byte("\ufeff")

// cutText cuts a text into lines or, if start is not nil, into blocks. Blank lines belong to the entry before.
func cutText(data []byte, start *regexp.Regexp) (*layout, []small.Pos) {
	out := &layout{end: LineEnd(data), blocks: start != nil}
	rest := bytes.TrimPrefix(data, byteOrderMark)
	var starts []int
	var places []small.Pos
	number, at := 0, len(data)-len(rest)
	for line := range bytes.Lines(rest) {
		number++
		if start == nil && len(bytes.TrimSpace(line)) > 0 || start != nil && start.Match(trimLineEnd(line)) {
			starts, places = append(starts, at), append(places, small.Pos{Line: number, Column: 1})
		}
		at += len(line)
	}
	starts = append(starts, len(data))
	out.header = data[:starts[0]]
	for i, from := range starts[:len(places)] {
		out.entries = append(out.entries, data[from:starts[i+1]])
	}
	return out, places
}

// trimLineEnd returns a line without LF or CR LF.
func trimLineEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// firstLine returns the first line of a text, without its line end.
func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return trimLineEnd(line)
}

// addLineEnd ends the last line of a text. It completes a CR at the end to CR LF.
func addLineEnd(text []byte, end string) []byte {
	switch {
	case len(text) == 0, bytes.HasSuffix(text, []byte("\n")):
		return text
	case bytes.HasSuffix(text, []byte("\r")):
		end = "\n"
	}
	return slices.Concat(text, []byte(end))
}

// cutBlockList cuts a YAML text at the items of a block list.
func cutBlockList(data []byte, places []small.Pos) (*layout, error) {
	lines := Lines(data)
	out := &layout{end: LineEnd(data)}
	list := &small.Value{Kind: small.List}
	for _, pos := range places {
		list.Items = append(list.Items, &small.Value{Pos: pos})
	}
	for at := min(places[0].Line, len(lines)) - 1; at >= 0 && out.column == 0; at-- {
		switch column := countIndent(lines[at]) + 1; {
		case isDash(lines[at], column):
			out.column = column
		case at == places[0].Line-1 && column < places[0].Column:
			return nil, errFlow
		}
	}
	if out.column == 0 {
		return nil, errFlow
	}
	starts, err := findDashes(lines, list, out.column)
	if err != nil {
		return nil, err
	}
	last := starts[len(starts)-1] + 1
	for last < len(lines) && (isBlank(lines[last]) || countIndent(lines[last]) >= out.column) {
		last++
	}
	for isBlank(lines[last-1]) {
		last--
	}
	out.cutAt(lines, starts, last)
	return out, nil
}

// cutArray cuts a JSON text at the elements of an array.
func cutArray(data []byte, places []small.Pos) (*layout, error) {
	out := &layout{end: LineEnd(data)}
	rest := bytes.TrimPrefix(data, byteOrderMark)
	lines := Lines(rest)
	at, line := len(data)-len(rest), 1
	var starts, ends []int
	for _, pos := range places {
		for ; line < pos.Line; line++ {
			at += len(lines[line-1])
		}
		start := at + len(string([]rune(string(lines[line-1]))[:pos.Column-1]))
		var element json.RawMessage
		if err := json.NewDecoder(bytes.NewReader(data[start:])).Decode(&element); err != nil {
			return nil, fmt.Errorf("line %d: %w", pos.Line, err)
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
