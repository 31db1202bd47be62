package splice

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/small"
)

// Lines cuts a text after each line break of YAML 1.1 (section 4.2): LF, CR LF, a lone CR, U+0085, U+2028 and U+2029. Positions
// count these lines.
func Lines(text []byte) [][]byte {
	if small.ReadableAlone(text) { // it ends in a line feed, as each of its lines does
		return slices.AppendSeq(make([][]byte, 0, small.CountLines(text)), bytes.Lines(text))
	}
	return linesAnyhow(text)
}

// linesAnyhow is the slow way of Lines.
func linesAnyhow(text []byte) [][]byte {
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

// LineEnd is the line end of a text: "\r\n" if all lines end so, else "\n".
func LineEnd(text []byte) string {
	if n := bytes.Count(text, []byte("\r\n")); n > 0 && n == bytes.Count(text, []byte("\n")) {
		return "\r\n"
	}
	return "\n"
}

// withLineEnd returns a text with other line ends. YAML reads each as a line feed.
func withLineEnd(text []byte, from, to string) []byte {
	if from == to {
		return text
	}
	return bytes.ReplaceAll(text, []byte(from), []byte(to))
}

// indentOf counts the spaces at the beginning of a line.
func indentOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// isRemark reports whether a line is a comment or blank, unless it is part of a scalar.
func isRemark(line []byte) bool {
	text := bytes.TrimSpace(line)
	return len(text) == 0 || text[0] == '#'
}

// indented moves lines to the right by a number of columns, or to the left if it is negative. ok is false if a line that is neither
// blank nor a comment is too short for that.
func indented(text []byte, by int) (out []byte, ok bool) {
	if by == 0 {
		return text, true
	}
	for _, line := range Lines(text) {
		switch {
		case by > 0 && !isBlank(line):
			out = append(out, bytes.Repeat([]byte(" "), by)...)
		case by < 0 && indentOf(line) >= -by:
			line = line[-by:]
		case by < 0 && isRemark(line):
			line = bytes.TrimLeft(line, " ")
		case by < 0:
			return nil, false
		}
		out = append(out, line...)
	}
	return out, true
}
