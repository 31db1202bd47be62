package combine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Append appends an entry to a log, and returns the text and the line on which the entry begins. The bytes before the entry stay.
func Append(path string, data []byte, entry NewEntry, now time.Time, limits small.Limits) ([]byte, int, error) {
	out, err := appendItems(data, limits, func(before *ledger.Ledger, column int, end string) [][]byte {
		at := [2]string{"timestamp", timeForNew(before, now).Format(TimestampForm)}
		return [][]byte{slices.Insert(slices.Clone(entry), 1, at).text(column, end)}
	})
	if err != nil {
		f := failure.Of(err)
		return nil, 0, &failure.Error{
			Message: fmt.Sprintf("%s: no entry can be appended: %s", path, f.Message),
			Remedy:  cmp.Or(f.Remedy, "find the error with `small-hook check`; if there is none, `small-hook guard -- small progress add` writes the list anew"),
		}
	}
	log, problems := ledger.ReadLog(out, limits)
	if log == nil {
		return nil, 0, fmt.Errorf("%s: %s", path, problems[0].Message)
	}
	return out, log.Entries[log.Len()-1].Pos.Line, nil
}

// appendItems appends items to a log's text. The bytes before them stay, except that the brackets of an empty list are removed.
func appendItems(data []byte, limits small.Limits, items func(before *ledger.Ledger, column int, end string) [][]byte) ([]byte, error) {
	doc, problems := small.Parse(data, limits)
	if doc == nil {
		return nil, fmt.Errorf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message)
	}
	before, problems := ledger.LedgerOf(doc)
	if before == nil {
		return nil, errors.New(problems[0].Message)
	}
	parts, err := takeApart(data, doc)
	if errors.Is(err, errNoItems) {
		parts, err = openEmptyList(data, doc)
	}
	if err != nil {
		return nil, err
	}
	more := items(before, parts.column, parts.end)
	head := WithLineEnd(slices.Concat(parts.header, Join(parts.entries)), parts.end)
	out := slices.Concat(head, Join(more), parts.footer)
	if err := checkSize("", out, limits); err != nil {
		return nil, err
	}
	after, problems := ledger.ReadLog(out, limits)
	switch {
	case after == nil:
		return nil, errors.New(problems[0].Message)
	case !after.Extends(before) || after.Len() != before.Len()+len(more):
		return nil, errors.New("its last entry would change")
	}
	return out, nil
}

// checkSize returns an error, which begins with what, if a log's new text would be above the limit.
func checkSize(what string, text []byte, limits small.Limits) error {
	size := int64(len(text))
	if size <= limits.FileSize() {
		return nil
	}
	p := small.TooLarge(size, limits)
	return &failure.Error{Message: what + p.Message, Remedy: p.Hint}
}

// openEmptyList takes apart a log with an empty list in brackets. It removes the brackets, so that items with dashes can follow.
func openEmptyList(data []byte, doc *small.Document) (*layout, error) {
	list := doc.Root.Get("entries")
	lines := Lines(data)
	line := lines[list.Pos.Line-1]
	before := len(string([]rune(string(line))[:list.Pos.Column-1]))
	rest := line[before:]
	if !bytes.HasPrefix(rest, []byte("[")) {
		return nil, errNoItems
	}
	inside, after, closed := bytes.Cut(rest[1:], []byte("]"))
	if !closed || !isBlank(inside) {
		return nil, errNoItems
	}
	out := &layout{column: 3, end: LineEnd(data), footer: Join(lines[list.Pos.Line:])}
	head := slices.Concat(Join(lines[:list.Pos.Line-1]), bytes.TrimRight(line[:before], " "), after)
	out.header = WithLineEnd(head, out.end)
	return out, nil
}
