package ledger

import (
	"bytes"
	"crypto/sha256"

	"github.com/small-gate/small-gate/internal/small"
)

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
