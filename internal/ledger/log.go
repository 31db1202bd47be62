package ledger

import (
	"bytes"
	"crypto/sha256"

	"github.com/small-gate/small-gate/internal/small"
)

// Log is a progress file read as a ledger, with what is needed to read a
// longer version of the same file cheaply.
type Log struct {
	*Ledger
	size int
	sum  [sha256.Size]byte
	// lines counts the line feeds, structure is the text's part of maxStructure.
	lines, structure int
	// column is where the sequence's dashes stand, counted from 1; 0 when
	// nothing can be appended without reading the file as a whole.
	column int
}

// ReadLog parses a progress file into a ledger.
func ReadLog(data []byte, limits small.Limits) (*Log, []small.Problem) {
	doc, problems := small.Parse(data, limits)
	if doc == nil {
		return nil, problems
	}
	return LogOf(doc, data)
}

// LogOf reads the ledger of a document that was parsed from data.
func LogOf(d *small.Document, data []byte) (*Log, []small.Problem) {
	ledger, problems := LedgerOf(d)
	if ledger == nil {
		return nil, problems
	}
	return &Log{
		Ledger:    ledger,
		size:      len(data),
		sum:       sha256.Sum256(data),
		lines:     small.CountLines(data),
		structure: d.Structure,
		column:    appendColumn(d, data),
	}, nil
}

// Extend reads data as a later version of the log. When the old bytes are a
// prefix of data and only list items were appended to them, only those are
// parsed; otherwise data is read as a whole. The result is the same either
// way.
func (l *Log) Extend(data []byte, limits small.Limits) (*Log, []small.Problem) {
	if l != nil && int64(len(data)) <= limits.FileSize() {
		if longer := l.appended(data, limits); longer != nil {
			return longer, nil
		}
	}
	return ReadLog(data, limits)
}

// appended is the short way. It returns nil whenever something about the two
// texts is not plainly an append.
func (l *Log) appended(data []byte, limits small.Limits) *Log {
	if l.column == 0 || len(data) < l.size {
		return nil
	}
	hash := sha256.New()
	hash.Write(data[:l.size])
	if [sha256.Size]byte(hash.Sum(nil)) != l.sum {
		return nil
	}
	tail := data[l.size:]
	if len(tail) == 0 {
		return l
	}
	items, structure := l.appendedItems(tail)
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
	hash.Write(tail)
	hash.Sum(longer.sum[:0])
	if !small.ReadableAlone(tail) {
		longer.column = 0
	}
	return longer
}

// appendedItems parses list items that stand behind the log's own, nil if the
// tail holds anything else. It also returns the tail's structure.
func (l *Log) appendedItems(tail []byte) ([]*small.Value, int) {
	dash := append(bytes.Repeat([]byte{' '}, l.column-1), '-', ' ')
	if !bytes.HasPrefix(tail, dash) || small.HasMarker(tail) {
		return nil, 0
	}
	const key = "entries:\n"
	text := append([]byte(key), tail...)
	doc, _ := small.Parse(text, small.Limits{MaxFileSize: int64(len(text))})
	if doc == nil || doc.Linked() || len(doc.Root.Fields) != 1 {
		return nil, 0
	}
	structure := doc.Structure - small.StructureOf([]byte(key[:len(key)-1]))
	items := doc.Root.Fields[0].Value
	if items.Kind != small.List || !items.Block() || items.Pos.Column != l.column {
		return nil, 0
	}
	return items.Items, structure
}

// appendColumn returns the column at which further items of the entries list
// would stand if text were appended to the file, 0 when that cannot be said:
// the list must be a block sequence that holds something, be the mapping's
// last member, and the text must end with its line.
func appendColumn(d *small.Document, data []byte) int {
	fields := d.Root.Fields
	last := fields[len(fields)-1]
	if last.Key != "entries" || !last.Value.Block() || len(last.Value.Items) == 0 || d.Linked() || small.HasMarker(data) || !small.ReadableAlone(data) {
		return 0
	}
	return last.Value.Pos.Column
}

// Before reads data as an earlier version of the log, whose own text is whole.
// Where only list items were appended to the earlier version, its entries are
// the log's first ones, and nothing is parsed. It returns nil wherever that is
// not plain; data then has to be read by itself, with the same result.
func (l *Log) Before(whole, data []byte) *Log {
	if l == nil || l.column == 0 || len(data) >= len(whole) || len(whole) != l.size || !bytes.HasPrefix(whole, data) || !small.ReadableAlone(data) {
		return nil
	}
	dash := append(bytes.Repeat([]byte{' '}, l.column-1), '-', ' ')
	if !bytes.HasPrefix(whole[len(data):], dash) {
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
		sum:       sha256.Sum256(data),
		lines:     lines,
		structure: l.structure, // an upper bound
		column:    l.column,
	}
}
