package ledger

import (
	"bytes"
	"sort"

	"github.com/small-gate/small-gate/internal/small"
)

// Log is the ledger of a file, and what [Log.Extend] needs to read another version of the file cheaply.
type Log struct {
	*Ledger
	size int // of the text, in bytes
	// lines counts the line feeds. structure is how much of [small.Limits.Structure] the text takes; 0 if that has not been counted.
	lines, structure int
	// dashColumn is the column of the dashes before list items, from 1; 0 if the file must be read whole after an append.
	dashColumn int
	// byLine is the form of a log whose file can be read line by line; else nil.
	byLine *Form
	// Open counts the entries that are not finished. They are not in the ledger.
	Open int
}

// ReadLog parses a progress file.
func ReadLog(data []byte, limits small.Limits) (*Log, []small.Problem) {
	doc, problems := small.Parse(data, limits)
	if doc == nil {
		return nil, problems
	}
	return LogOf(doc, data)
}

// LogOf returns the log of a document that was parsed from data.
func LogOf(d *small.Document, data []byte) (*Log, []small.Problem) {
	ledger, problems := LedgerOf(d)
	if ledger == nil {
		return nil, problems
	}
	return &Log{
		Ledger:     ledger,
		size:       len(data),
		lines:      small.CountLines(data),
		structure:  d.Structure,
		dashColumn: d.AppendColumn(data),
	}, nil
}

// LogOfExtended is [LogOf] for a document that [small.Document.Extend] made from the document of l. It reads only the new entries.
func (l *Log) LogOfExtended(d *small.Document, data []byte) *Log {
	return &Log{
		Ledger:     l.Ledger.withItems(d.Root.Get("entries").Items[l.Len():], 0),
		size:       len(data),
		lines:      small.CountLines(data),
		structure:  d.Structure,
		dashColumn: d.AppendColumn(data),
	}
}

// Extend reads data as another version of l: a later one, or one that forked from it. whole is the text of l. Only what follows the common
// beginning is parsed, if that is safe; the result is the same either way. A nil l reads all of data.
func (l *Log) Extend(whole, data []byte, limits small.Limits) (*Log, []small.Problem) {
	if l != nil && l.byLine != nil {
		tail, appended := bytes.CutPrefix(data, whole)
		if !appended || !bytes.HasSuffix(whole, []byte("\n")) || small.IsLFSPointer(data) || bytes.Contains(tail, []byte(">>>>>>>")) {
			return l.byLine.Read(data)
		}
		return l.withLines(tail), nil
	}
	if l == nil || l.dashColumn == 0 || int64(len(data)) > limits.FileSize() {
		return ReadLog(data, limits)
	}
	if longer := l.extendByAppended(whole, data, limits); longer != nil {
		return longer, nil
	}
	common := data[:commonPrefix(whole, data)]
	dash := append([]byte("\n"), small.Dash(l.dashColumn)...)
	common = common[:bytes.LastIndex(common, dash)+1]
	if front := l.ReadEarlier(whole, common); front != nil {
		if l.structure > 0 {
			front.structure = l.structure - structureOfLines(whole[len(common):])
		}
		if forked := front.extendByAppended(common, data, limits); forked != nil {
			return forked, nil
		}
	}
	return ReadLog(data, limits)
}

// commonPrefix returns the number of leading bytes that two texts share.
func commonPrefix(a, b []byte) int {
	const step = 4096
	n := 0
	for n+step <= min(len(a), len(b)) && bytes.Equal(a[n:n+step], b[n:n+step]) {
		n += step
	}
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// extendByAppended parses only what data adds to whole. It returns nil unless data is certainly whole with list items appended.
func (l *Log) extendByAppended(whole, data []byte, limits small.Limits) *Log {
	if l.dashColumn == 0 || len(whole) != l.size || !bytes.HasPrefix(data, whole) {
		return nil
	}
	tail := data[len(whole):]
	if len(tail) == 0 {
		return l
	}
	items, structure := small.ParseAppendedItems(tail, l.dashColumn)
	if l.structure == 0 {
		structure += structureOfLines(whole)
	}
	if items == nil || l.structure+structure > limits.Structure() {
		return nil
	}
	longer := &Log{
		Ledger:     l.Ledger.withItems(items, l.lines-1),
		size:       len(data),
		lines:      l.lines + small.CountLines(tail),
		structure:  l.structure + structure,
		dashColumn: l.dashColumn,
	}
	if !small.TailReadsAlone(tail) {
		longer.dashColumn = 0
	}
	return longer
}

// ReadEarlier reads data as an earlier version of l, whose text is whole. If whole is data with list items appended, the entries are the
// first ones of l and nothing is parsed. It returns nil if that is not certain. Parsing data gives the same result.
func (l *Log) ReadEarlier(whole, data []byte) *Log {
	if l == nil || len(data) >= len(whole) || len(whole) != l.size || !bytes.HasPrefix(whole, data) || !bytes.HasSuffix(data, []byte("\n")) || small.IsLFSPointer(data) {
		return nil
	}
	if l.byLine != nil {
		lines := bytes.Count(data, []byte("\n"))
		n := sort.Search(l.Len(), func(i int) bool { return l.Entries[i].Pos.Line > lines })
		return &Log{Ledger: l.FirstEntries(n), size: len(data), lines: lines, byLine: l.byLine}
	}
	if l.dashColumn == 0 {
		return nil
	}
	if !bytes.HasPrefix(whole[len(data):], small.Dash(l.dashColumn)) {
		return nil
	}
	lines := small.CountLines(data)
	n := 0
	for n < l.Len() && l.Entries[n].Pos.Line <= lines {
		n++
	}
	// The first item after data must begin in the next line. If data has no item, its entries were not a list.
	if n == 0 || n == l.Len() || l.Entries[n].Pos.Line != lines+1 {
		return nil
	}
	return &Log{Ledger: l.FirstEntries(n), size: len(data), lines: lines, dashColumn: l.dashColumn}
}

// structureOfLines returns the structure of whole lines: [small.StructureOf] takes the text for one line, but each line counts for one.
func structureOfLines(text []byte) int { return small.StructureOf(text) - 1 + small.CountLines(text) }
