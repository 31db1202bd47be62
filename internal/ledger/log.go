package ledger

import (
	"bytes"

	"github.com/small-gate/small-gate/internal/small"
)

// Log is a progress file's ledger, with what it takes to read a longer version of the file cheaply.
type Log struct {
	*Ledger
	size int // of the text, in bytes
	// lines counts the line feeds; structure is the text's part of [small.Limits.Structure].
	lines, structure int
	// column is the column of the sequence's dashes, from 1; 0 if the file must be read whole after an append.
	column int
}

// ReadLog parses a progress file.
func ReadLog(data []byte, limits small.Limits) (*Log, []small.Problem) {
	doc, problems := small.Parse(data, limits)
	if doc == nil {
		return nil, problems
	}
	return LogOf(doc, data)
}

// LogOf is the log of a document that was parsed from data.
func LogOf(d *small.Document, data []byte) (*Log, []small.Problem) {
	ledger, problems := LedgerOf(d)
	if ledger == nil {
		return nil, problems
	}
	return &Log{
		Ledger:    ledger,
		size:      len(data),
		lines:     small.CountLines(data),
		structure: d.Structure,
		column:    d.AppendColumn(data),
	}, nil
}

// LogOfExtended is [LogOf] of a document that is extended from the log's own ([small.Document.Extended]). It looks at
// the new entries only.
func (l *Log) LogOfExtended(d *small.Document, data []byte) *Log {
	return &Log{
		Ledger:    l.Ledger.append(d.Root.Get("entries").Items[l.Len():], 0),
		size:      len(data),
		lines:     small.CountLines(data),
		structure: d.Structure,
		column:    d.AppendColumn(data),
	}
}

// Extend reads data as a later version of the log, whose own text is whole. If list items were only appended, just those are parsed.
// The result is the same either way.
func (l *Log) Extend(whole, data []byte, limits small.Limits) (*Log, []small.Problem) {
	if l != nil && int64(len(data)) <= limits.FileSize() {
		if longer := l.appended(whole, data, limits); longer != nil {
			return longer, nil
		}
	}
	return ReadLog(data, limits)
}

// Forked reads data as another version of the log, whose own text is whole: only what follows their common beginning is parsed, where that
// is plain. The result is the same either way.
func (l *Log) Forked(whole, data []byte, limits small.Limits) (*Log, []small.Problem) {
	if l == nil || l.column == 0 {
		return ReadLog(data, limits)
	}
	same := 0
	for same < min(len(whole), len(data)) && whole[same] == data[same] {
		same++
	}
	dash := append([]byte("\n"), small.Dash(l.column)...)
	common := data[:bytes.LastIndex(data[:same], dash)+1]
	return l.Before(whole, common).Extend(common, data, limits)
}

// appended is the short way of Extend; nil if data is not plainly an append.
func (l *Log) appended(whole, data []byte, limits small.Limits) *Log {
	if l.column == 0 || len(whole) != l.size || !bytes.HasPrefix(data, whole) {
		return nil
	}
	tail := data[len(whole):]
	if len(tail) == 0 {
		return l
	}
	items, structure := small.AppendedItems(tail, l.column)
	if items == nil || l.structure+structure > limits.Structure() {
		return nil
	}
	longer := &Log{
		Ledger:    l.Ledger.append(items, l.lines-1),
		size:      len(data),
		lines:     l.lines + small.CountLines(tail),
		structure: l.structure + structure,
		column:    l.column,
	}
	if !small.ReadableAlone(tail) {
		longer.column = 0
	}
	return longer
}

// Before reads data as an earlier version of the log, whose own text is whole. If list items were only appended to
// data, its entries are the log's first ones and nothing is parsed. It returns nil if that is not plain; reading
// data by itself gives the same result.
func (l *Log) Before(whole, data []byte) *Log {
	if l == nil || l.column == 0 || len(data) >= len(whole) || len(whole) != l.size || !bytes.HasPrefix(whole, data) || !bytes.HasSuffix(data, []byte("\n")) {
		return nil
	}
	if !bytes.HasPrefix(whole[len(data):], small.Dash(l.column)) || small.IsLFSPointer(data) { // only a short text is one
		return nil
	}
	lines := small.CountLines(data)
	n := 0
	for n < l.Len() && l.Entries[n].Pos.Line <= lines {
		n++
	}
	// The first item behind the earlier text begins in the line behind it; the
	// list has to hold something before it, or it was no list then.
	if n == 0 || n == l.Len() || l.Entries[n].Pos.Line != lines+1 {
		return nil
	}
	return &Log{
		Ledger:    &Ledger{Entries: l.Entries[:n:n], heads: l.heads[:n:n], used: l.used},
		size:      len(data),
		lines:     lines,
		structure: l.structure, // an upper bound
		column:    l.column,
	}
}
