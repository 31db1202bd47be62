package small

import (
	"bytes"
	"slices"
)

// entriesKey is the line above a log's items.
const entriesKey = "entries:\n"

// AppendColumn returns the column of the dash for items that are appended to the entries. It returns 0 unless the
// entries are a non-empty block list and the mapping's last member, and appended text can be read without data, the
// document's text.
func (d *Document) AppendColumn(data []byte) int {
	if d.appendColumn > 0 {
		return d.appendColumn
	}
	if len(d.Root.Fields) == 0 {
		return 0
	}
	last := d.Root.Fields[len(d.Root.Fields)-1]
	if last.Key != "entries" || !last.Value.IsBlockList() || len(last.Value.Items) == 0 || d.linked || d.emptyFollows || hasMarkerLine(data) || !TailReadsAlone(data) {
		return 0
	}
	return last.Value.Pos.Column
}

// Dash returns the beginning of an item's line: spaces, the dash at a column, a space.
func Dash(column int) []byte { return append(bytes.Repeat([]byte{' '}, column-1), '-', ' ') }

// ParseAppendedItems parses items that were appended at an AppendColumn, and counts their structure; nil if the tail
// holds anything else. Their lines count from 2, because entriesKey is line 1.
func ParseAppendedItems(tail []byte, column int) ([]*Value, int) {
	if !bytes.HasPrefix(tail, Dash(column)) || hasMarkerLine(tail) {
		return nil, 0
	}
	text := append([]byte(entriesKey), tail...)
	doc, _ := Parse(text, Limits{MaxFileSize: int64(len(text))})
	items := doc.itemsAtColumn(column)
	if items == nil {
		return nil, 0
	}
	return items, doc.Structure - StructureOf([]byte(entriesKey[:len(entriesKey)-1]))
}

// Extend returns the same document as Parse(data), if data is whole, this document's text, with items appended; nil if
// that is not certain. Both documents share the earlier items.
func (d *Document) Extend(whole, data []byte, limits Limits) *Document {
	if !bytes.HasPrefix(data, whole) || int64(len(data)) > limits.FileSize() {
		return nil
	}
	column := d.AppendColumn(whole)
	if column == 0 {
		return nil
	}
	items, structure := ParseAppendedItems(data[len(whole):], column)
	if items == nil || d.Structure+structure > limits.Structure() {
		return nil
	}
	lines := CountLines(whole) - 1
	for _, item := range items {
		item.moveDown(lines)
	}
	root, last := *d.Root, len(d.Root.Fields)-1
	list := *root.Fields[last].Value
	list.Items = slices.Concat(list.Items, items)
	root.Fields = slices.Clone(root.Fields)
	root.Fields[last].Value = &list
	return &Document{Root: &root, Structure: d.Structure + structure}
}

// itemsAtColumn returns the items of a document that has no links and nothing but a list with its dashes at a column;
// else nil.
func (d *Document) itemsAtColumn(column int) []*Value {
	if d == nil || d.linked || d.emptyFollows || len(d.Root.Fields) != 1 {
		return nil
	}
	items := d.Root.Fields[0].Value
	if !items.IsBlockList() || items.Pos.Column != column {
		return nil
	}
	return items.Items
}

// TailReadsAlone reports whether text after data can be read without data: data ends with a line feed, and has no
// unusual line break, which could hide the end of a document.
func TailReadsAlone(data []byte) bool {
	return bytes.HasSuffix(data, []byte("\n")) && !hasUnusualLineBreak(data)
}

// hasMarkerLine reports whether a line begins like a document end marker, which ends the document, or like a
// directive.
func hasMarkerLine(data []byte) bool {
	for _, marker := range []string{"...", "%"} {
		if bytes.HasPrefix(data, []byte(marker)) || bytes.Contains(data, []byte("\n"+marker)) {
			return true
		}
	}
	return false
}

// CountLines counts line feeds.
func CountLines(data []byte) int { return bytes.Count(data, []byte{'\n'}) }

// hasUnusualLineBreak reports whether a line ends other than in LF or CR LF.
func hasUnusualLineBreak(data []byte) bool {
	if bytes.Count(data, []byte{'\r'}) != bytes.Count(data, []byte("\r\n")) {
		return true
	}
	return hasUnicodeBreak(data)
}
