package combine

import (
	"bytes"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/small"
)

// layout is the text of a log, byte by byte: the part before the entries, each entry, and the part after them.
type layout struct {
	// version has this text; nil for a layout of a configured log.
	version        *version
	header, footer []byte
	// column is the column of the list's dashes, from 1.
	column int
	// end is the line end: LF or CR LF.
	end string
	// entries are the texts of the finished entries, with their comments, and open are those of a configured log's open entries. Both
	// are in the order of the ledger: from the end of the file if newestFirst is true.
	entries, open [][]byte
	newestFirst   bool
	// separator is the text between entries; nil if each entry's text includes it.
	separator []byte
	// tail are the comments behind the last entry of a block list, which are in that entry's text or in the footer.
	tail []byte
	// blocks is true if entries of a text are runs of lines.
	blocks bool
}

// Reasons why a log's text cannot be taken apart.
var (
	errNoItems = errors.New("its list is empty")
	errFlow    = errors.New("its entries are written in brackets, not one per dash")
	errDashes  = errors.New("its entries do not each begin on a line of their own")
)

// hasSameFrame reports whether two logs have the same text before and after their entries.
func (l *layout) hasSameFrame(other *layout) bool {
	frame := func(one *layout) []byte {
		return bytes.ReplaceAll(slices.Concat(one.header, one.footer), []byte("\r\n"), []byte("\n"))
	}
	return bytes.Equal(frame(l), frame(other))
}

// takeApart cuts a log's text into entries. moveToComments says which comments belong to an entry.
func takeApart(data []byte, doc *small.Document) (*layout, error) {
	list := doc.Root.Get("entries")
	switch {
	case list == nil || list.Kind != small.List || len(list.Items) == 0:
		return nil, errNoItems
	case !list.IsBlockList():
		return nil, errFlow
	}
	out := &layout{column: list.Pos.Column, end: LineEnd(data)}
	lines := Lines(data)
	last := len(lines)
	for _, f := range doc.Root.Fields {
		if f.KeyPos.Line > list.Pos.Line {
			last = min(last, f.KeyPos.Line-1)
		}
	}
	starts, err := findDashes(lines, list, out.column)
	if err != nil || starts[len(starts)-1] >= last {
		return nil, errDashes
	}
	for at := starts[len(starts)-1]; at < last; at++ {
		if bytes.HasPrefix(lines[at], []byte("...")) || bytes.HasPrefix(lines[at], []byte("---")) {
			last = at
		}
	}
	out.cutAt(lines, starts, last)
	return out, nil
}

// cutAt sets the texts of a block list whose items have their dashes on these lines, and which ends before the line last.
func (l *layout) cutAt(lines [][]byte, dashes []int, last int) {
	starts := append(moveToComments(lines, dashes, l.column), last)
	l.header, l.footer = Join(lines[:starts[0]]), Join(lines[last:])
	for i, start := range starts[:len(dashes)] {
		l.entries = append(l.entries, Join(lines[start:starts[i+1]]))
	}
	end := last
	for end < len(lines) && (isBlank(lines[end]) || isCommentAt(lines[end], l.column)) {
		end++
	}
	behind := moveToComments(lines[:end], []int{dashes[len(dashes)-1], end}, l.column)[1]
	l.tail = WithLineEnd(Join(lines[behind:end]), l.end)
}

// moveToComments returns the lines on which the texts of items begin: with the comments above their dashes. Comments above the first item are part of the
// header. A comment that is indented more than the dashes belongs to the item before: it could be part of a scalar that only looks like a comment.
func moveToComments(lines [][]byte, dashes []int, column int) []int {
	starts := slices.Clone(dashes)
	for i := range starts[1:] {
		for at := dashes[i+1] - 1; at > dashes[i]; at-- {
			if isCommentAt(lines[at], column) {
				starts[i+1] = at
			} else if !isBlank(lines[at]) {
				break
			}
		}
	}
	return starts
}

// isCommentAt reports whether a line is a comment that is indented no more than a dash at a column.
func isCommentAt(line []byte, column int) bool {
	return countIndent(line) < column && bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("#"))
}

// findDashes finds the line, from 0, on which each item of a block list begins. The item's own position may be on a later line.
func findDashes(lines [][]byte, list *small.Value, column int) ([]int, error) {
	var starts []int
	for _, item := range list.Items {
		at := min(item.Pos.Line, len(lines)) - 1
		for at >= 0 && !isDash(lines[at], column) {
			at--
		}
		if at < 0 || len(starts) > 0 && at <= starts[len(starts)-1] {
			return nil, errDashes
		}
		starts = append(starts, at)
	}
	return starts, nil
}

// isDash reports whether a line begins with the dash of a list item at a column.
func isDash(line []byte, column int) bool {
	if countIndent(line) != column-1 || len(line) < column || line[column-1] != '-' {
		return false
	}
	return len(line) == column || bytes.IndexByte([]byte(" \t\r\n"), line[column]) >= 0
}

// Join joins lines, which have their line ends.
func Join(lines [][]byte) []byte { return bytes.Join(lines, nil) }

// Lines cuts a text after each line break of YAML 1.1 (section 4.2): LF, CR LF, a lone CR, U+0085, U+2028 and U+2029. Positions
// count these lines.
func Lines(text []byte) [][]byte {
	if small.TailReadsAlone(text) { // it ends in a line feed, as each of its lines does
		return slices.AppendSeq(make([][]byte, 0, small.CountLines(text)), bytes.Lines(text))
	}
	return cutLinesSlowly(text)
}

// cutLinesSlowly does what Lines does, for any text.
func cutLinesSlowly(text []byte) [][]byte {
	var lines [][]byte
	start := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch r {
		case '\r':
			if i < len(text) && text[i] == '\n' {
				i++
			}
		case '\n', 0x85, 0x2028, 0x2029:
		default:
			continue
		}
		lines = append(lines, text[start:i])
		start = i
	}
	if start < len(text) {
		lines = append(lines, text[start:])
	}
	return lines
}

// LineEnd returns the line end of a text: "\r\n" if all lines end so, else "\n".
func LineEnd(text []byte) string {
	if n := bytes.Count(text, []byte("\r\n")); n > 0 && n == bytes.Count(text, []byte("\n")) {
		return "\r\n"
	}
	return "\n"
}

// countIndent counts the spaces at the beginning of a line.
func countIndent(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
