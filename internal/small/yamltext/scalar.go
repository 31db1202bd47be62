package yamltext

import (
	"bytes"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// What follows finds where a value ends, which the parser does not tell. It
// knows YAML well enough for what people write; where it errs, the text that
// results does not read back as it should, and is not used.

// quotedEnd is the offset after the quoted scalar that begins at start, 0 if
// it does not end.
func (s *Source) quotedEnd(start int) int {
	quote := s.At(start)
	for i := start + 1; i < len(s.Text); i++ {
		switch c := s.Text[i]; {
		case c == '\\' && quote == '"':
			i++
		case c == quote && quote == '\'' && s.At(i+1) == '\'':
			i++
		case c == quote:
			return i + 1
		}
	}
	return 0
}

// scalar finds the text of a mapping's scalar value. ok is false for an alias,
// an anchor, a tag, and an unquoted text of several lines.
func (s *Source) scalar(f small.Field) (start, end int, ok bool) {
	start = s.Offset(f.Value.Pos)
	switch c := s.At(start); {
	case c == '"' || c == '\'':
		end = s.quotedEnd(start)
		return start, end, end > 0
	case (c == '|' || c == '>') && !f.Value.Plain:
		return start, s.blockScalarEnd(f), true
	case bytes.HasPrefix(s.Text[start:], []byte(f.Value.Text)) && f.Value.Plain && f.Value.Text != "":
		return start, start + len(f.Value.Text), true
	}
	return 0, 0, false
}

// blockScalarEnd is the offset after the last line, without its end, of a
// value that begins with | or >: the lines below it that are indented deeper
// than its key.
func (s *Source) blockScalarEnd(f small.Field) int {
	last := f.Value.Pos.Line
	for n := last + 1; n <= s.Lines(); n++ {
		text := s.Line(n)
		body := strings.TrimLeft(text, " ")
		if body == "" {
			continue
		}
		if len(text)-len(body) < f.KeyPos.Column {
			break
		}
		last = n
	}
	return s.Start(last) + len(s.Line(last))
}
