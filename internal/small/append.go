package small

import (
	"bytes"
	"crypto/sha256"
	"unicode/utf8"
)

// Log is a progress file read as a ledger, with what is needed to read a
// longer version of the same file cheaply.
type Log struct {
	*Ledger
	size int
	sum  [sha256.Size]byte
	// lines counts the line breaks as YAML counts them.
	lines int
	// column is where the sequence's dashes stand, counted from 1; 0 when
	// nothing can be appended without reading the file as a whole.
	column int
}

// ReadLog parses a progress file into a ledger.
func ReadLog(data []byte, limits Limits) (*Log, []Problem) {
	doc, problems := Parse(data, limits)
	if doc == nil {
		return nil, problems
	}
	return doc.Log(data)
}

// Log reads the ledger of a document that was parsed from data.
func (d *Document) Log(data []byte) (*Log, []Problem) {
	ledger, problems := LedgerOf(d)
	if ledger == nil {
		return nil, problems
	}
	return &Log{
		Ledger: ledger,
		size:   len(data),
		sum:    sha256.Sum256(data),
		lines:  countLines(data),
		column: d.appendColumn(data),
	}, nil
}

// Extend reads data as a later version of the log. When the old bytes are a
// prefix of data and only list items were appended to them, only those are
// parsed; otherwise data is read as a whole. The result is the same either
// way.
func (l *Log) Extend(data []byte, limits Limits) (*Log, []Problem) {
	if l != nil && int64(len(data)) <= limits.FileSize() {
		if longer := l.appended(data); longer != nil {
			return longer, nil
		}
	}
	return ReadLog(data, limits)
}

// appended is the short way. It returns nil whenever something about the two
// texts is not plainly an append.
func (l *Log) appended(data []byte) *Log {
	if l.column == 0 || len(data) < l.size || sha256.Sum256(data[:l.size]) != l.sum {
		return nil
	}
	tail := data[l.size:]
	if len(tail) == 0 {
		return l
	}
	dash := append(bytes.Repeat([]byte{' '}, l.column-1), '-', ' ')
	if !bytes.HasPrefix(tail, dash) || hasDocumentEnd(tail) {
		return nil
	}
	const key = "entries:\n"
	doc, _ := Parse(append([]byte(key), tail...), Limits{MaxFileSize: int64(len(tail) + len(key))})
	if doc == nil || doc.linked || len(doc.Root.Fields) != 1 {
		return nil
	}
	items := doc.Root.Fields[0].Value
	if items.Kind != List || !items.block || len(items.Items) == 0 || items.Pos.Column != l.column {
		return nil
	}
	ledger := l.Ledger.fork()
	ledger.extend(items.Items, l.lines-1)
	*ledger.used = ledger.Len()
	return &Log{
		Ledger: ledger,
		size:   len(data),
		sum:    sha256.Sum256(data),
		lines:  l.lines + countLines(tail),
		column: appendableAt(data, l.column),
	}
}

// appendColumn returns the column at which further items of the entries list
// would stand if text were appended to the file, 0 when that cannot be said:
// the list must be a block sequence that holds something, be the mapping's
// last member, and the text must end with its line.
func (d *Document) appendColumn(data []byte) int {
	fields := d.Root.Fields
	last := fields[len(fields)-1]
	if last.Key != "entries" || !last.Value.block || len(last.Value.Items) == 0 || d.linked || hasDocumentEnd(data) {
		return 0
	}
	return appendableAt(data, last.Value.Pos.Column)
}

func appendableAt(data []byte, column int) int {
	if !bytes.HasSuffix(data, []byte("\n")) {
		return 0
	}
	return column
}

// hasDocumentEnd reports whether a line begins with a document end marker,
// after which nothing belongs to the document.
func hasDocumentEnd(data []byte) bool {
	return bytes.HasPrefix(data, []byte("...")) || bytes.Contains(data, []byte("\n..."))
}

// countLines counts line breaks as YAML 1.1 does: LF, CR, CR LF, NEL, LS, PS.
func countLines(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if i := bytes.IndexByte(data, '\r'); i >= 0 {
		for ; i < len(data); i++ {
			if data[i] == '\r' && (i+1 == len(data) || data[i+1] != '\n') {
				n++
			}
		}
	}
	for _, r := range []rune{0x85, 0x2028, 0x2029} {
		n += bytes.Count(data, utf8.AppendRune(nil, r))
	}
	return n
}
