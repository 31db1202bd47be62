package yamltext

import (
	"bytes"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// The functions below find where a value ends, which the parser does not say. They know only usual YAML; applyChecked
// refuses mistakes that change a value.

// quotedEnd returns the offset after the quoted scalar that begins at start, 0 if it does not end.
func (s *source) quotedEnd(start int) int {
	quote := s.byteAt(start)
	for i := start + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\\' && quote == '"':
			i++
		case c == quote && quote == '\'' && s.byteAt(i+1) == '\'':
			i++
		case c == quote:
			return i + 1
		}
	}
	return 0
}

// findScalar finds the text of a mapping's scalar value; for an empty one, the place after the colon. ok is false for an
// alias, an anchor, a tag, and an unquoted text of several lines.
func (s *source) findScalar(f small.Field) (start, end int, ok bool) {
	start = s.offset(f.Value.Pos)
	switch c := s.byteAt(start); {
	case c == '"' || c == '\'':
		end = s.quotedEnd(start)
		return start, end, end > 0
	case (c == '|' || c == '>') && !f.Value.Plain:
		return start, s.blockScalarEnd(f), true
	case bytes.HasPrefix(s.text[start:], []byte(f.Value.Text)) && f.Value.Plain && f.Value.Text != "":
		return start, start + len(f.Value.Text), true
	case f.Value.Kind == small.Null && f.Value.Text == "" && s.byteAt(start-1) == ':':
		return start, start, true
	}
	return 0, 0, false
}

// blockScalarEnd returns the offset after a value that begins with | or >, before its last line end. Its lines are indented at least as deep as
// its first one, or as the number after | or > says (YAML 1.2.2, section 8.1.1.1). A comment that is indented less is not part of it.
func (s *source) blockScalarEnd(f small.Field) int {
	last, indent := f.Value.Pos.Line, 0
	header, _, _ := strings.Cut(string(s.text[s.offset(f.Value.Pos):s.lineStart(last+1)]), " ")
	if at := strings.IndexAny(header, "123456789"); at > 0 {
		indent = f.KeyPos.Column - 1 + int(header[at]-'0')
	}
	for n := last + 1; n <= s.lineCount(); n++ {
		text := s.lineText(n)
		body := strings.TrimLeft(text, " ")
		if body == "" {
			continue
		}
		deep := len(text) - len(body)
		if indent == 0 {
			indent = max(deep, f.KeyPos.Column)
		}
		if deep < indent {
			break
		}
		last = n
	}
	return s.lineStart(last) + len(s.lineText(last))
}
