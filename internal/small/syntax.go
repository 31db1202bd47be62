package small

import (
	"bytes"
	"sort"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// errorLine matches the beginning of the parser's error texts.
var errorLine = expression.Of(`^yaml: (?:line (\d+): )?`)

// syntaxProblem turns the parser's error into a problem. The parser names at
// most a line, and often the one where the surrounding list or mapping begins.
func syntaxProblem(data []byte, err error, structure int) *Problem {
	text := err.Error()
	p := &Problem{Kind: ProblemYAML, Pos: Pos{1, 1}}
	m := errorLine().FindStringSubmatch(text)
	if m != nil {
		if n, convErr := strconv.Atoi(m[1]); convErr == nil {
			p.Pos.Line = max(n, 1)
		}
	}
	if pos, found := findControlCharacter(data); found {
		p.Pos = pos
		p.Message = "YAML does not allow this control character"
		p.Hint = `remove it, or write it as an escape in double quotes ("\x1b")`
		return p
	}
	if line := findFailingLine(data, text, structure); line > 0 {
		p.Pos.Line = line
	}
	if m != nil {
		text = strings.TrimPrefix(text, m[0])
	}
	p.Message = "not YAML: " + wording.Clip(text)
	p.Hint = syntaxHint(text, lineAt(data, p.Pos.Line))
	return p
}

// findFailingLine parses a text repeatedly. These are the largest size in bytes and the largest [Document.Structure]
// of a text that it searches.
const (
	maxSearchSize      = 2 << 20
	maxSearchStructure = 100_000
)

// findFailingLine returns the line at which the parser stops with the error text: the last line of the shortest
// beginning of the file that gives this error. It returns 0 if the text is too large to search, or if no beginning
// gives the error.
func findFailingLine(data []byte, text string, structure int) int {
	if len(data) > maxSearchSize || structure > maxSearchStructure {
		return 0
	}
	ends := []int{0}
	for rest := data; len(rest) > 0; {
		_, rest, _ = bytes.Cut(rest, lineFeed)
		ends = append(ends, len(data)-len(rest))
	}
	fails := func(lines int) bool {
		_, _, err := scanDocuments(data[:ends[lines]])
		return err != nil && err.Error() == text
	}
	line := sort.Search(len(ends), fails)
	if line == 0 || line == len(ends) {
		return 0
	}
	return line
}

// findControlCharacter finds the first character that the parser refuses everywhere (YAML 1.1, section 5.1).
func findControlCharacter(data []byte) (Pos, bool) {
	for line, rest := 1, data; len(rest) > 0; line++ {
		var text []byte
		text, rest, _ = bytes.Cut(rest, lineFeed)
		if column, _ := findRune(text, func(r rune, _ int) bool { return !isPrintable(r) }); column > 0 {
			return Pos{line, column}, true
		}
	}
	return Pos{}, false
}

func isPrintable(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r', r == 0x85:
		return true
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0xfffe, r == 0xffff:
		return false
	}
	return true
}

func lineAt(data []byte, line int) []byte {
	var text []byte
	for ; line > 0; line-- {
		text, data, _ = bytes.Cut(data, lineFeed)
	}
	return text
}

// syntaxHint names the usual remedy for an error of the parser.
func syntaxHint(text string, line []byte) string {
	blanks := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	switch {
	case bytes.IndexByte(blanks, '\t') >= 0:
		return "YAML indents with spaces; replace the tab"
	case strings.Contains(text, "incompatible YAML document"):
		return "remove the line that begins with %YAML"
	case strings.Contains(text, "cannot start any token"):
		return "quote the text: without quotes it cannot begin with @, `, % or a tab"
	case strings.Contains(text, "mapping values are not allowed"):
		return "put a text that holds a colon and a space into quotes, or check the indentation"
	case strings.Contains(text, "unexpected end of stream"):
		return "a quote that is opened here is never closed"
	case strings.Contains(text, "did not find expected"), strings.Contains(text, "could not find expected"):
		return "check the indentation, quotes and brackets of this line and the one above"
	}
	return ""
}
