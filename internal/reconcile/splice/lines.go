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

// indentOf counts the spaces at the beginning of a line.
func indentOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
