package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/small"
)

// Source is the text of a YAML file, cut into lines where positions cut
// it, so that they can be found in it. The parser ends a line at some further
// characters; what is edited there by mistake does not read back, and is not
// used.
type Source struct {
	Text []byte
	// starts are the offsets at which lines begin.
	starts []int
}

// New cuts a text into lines.
func New(text []byte) *Source {
	s := &Source{Text: text, starts: []int{0}}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		s.starts[0] = len("\ufeff") // no column counts a byte order mark
	}
	for i, c := range text {
		if c == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	return s
}

// EOL is what ends a line in this file.
func (s *Source) EOL() string {
	if i := bytes.IndexByte(s.Text, '\n'); i > 0 && s.Text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// Lines is the number of lines; an empty one after the last line end counts.
func (s *Source) Lines() int { return len(s.starts) }

// Start is the offset at which a line begins (1 is the first), the end of the
// text for a line that is not there.
func (s *Source) Start(line int) int {
	if line > len(s.starts) {
		return len(s.Text)
	}
	return s.starts[line-1]
}

// Line is the text of a line without its end.
func (s *Source) Line(line int) string {
	text := s.Text[s.Start(line):s.Start(line+1)]
	return strings.TrimRight(string(text), "\r\n")
}

// Offset is the offset of a position, the end of the text for one outside.
func (s *Source) Offset(pos small.Pos) int {
	i := s.Start(pos.Line)
	for col := 1; col < pos.Column && i < len(s.Text); col++ {
		_, n := utf8.DecodeRune(s.Text[i:])
		i += n
	}
	return i
}

// At is the byte at an offset, 0 outside the text.
func (s *Source) At(offset int) byte {
	if offset >= 0 && offset < len(s.Text) {
		return s.Text[offset]
	}
	return 0
}

// End is the number of the line before which the document ends: that of a
// `...` marker, or the one after the last.
func (s *Source) End() int {
	for n := 1; n <= s.Lines(); n++ {
		if l := s.Line(n); l == "..." || strings.HasPrefix(l, "... ") {
			return n
		}
	}
	if s.Start(s.Lines()) == len(s.Text) {
		return s.Lines()
	}
	return s.Lines() + 1
}

// Edit replaces the bytes from Start to End.
type Edit struct {
	Start, End int
	Text       string
}

// Apply makes edits. Edits that overlap make nothing.
func (s *Source) Apply(edits []Edit) []byte {
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.Start - b.Start })
	var out []byte
	done := 0
	for _, e := range edits {
		if e.Start < done {
			return nil
		}
		out = append(out, s.Text[done:e.Start]...)
		out = append(out, e.Text...)
		done = e.End
	}
	return append(out, s.Text[done:]...)
}

// Replace gives a mapping's scalar value another text.
func (s *Source) Replace(f small.Field, text string) (Edit, error) {
	start, end, ok := s.scalar(f)
	if !ok {
		return Edit{}, fmt.Errorf("the value of %q has an anchor or a tag, is an alias, or spans lines", f.Key)
	}
	return Edit{start, end, text}, nil
}

// Flow reports whether a mapping is written in braces.
func (s *Source) Flow(v *small.Value) bool { return s.At(s.Offset(v.Pos)) == '{' }

// AppendKey adds a key to the root mapping at the end of the document, and its
// value's lines, which are written below a key with that many spaces before it.
func (s *Source) AppendKey(root *small.Value, key string, lines func(indent int) string) ([]Edit, error) {
	if s.Flow(root) {
		return nil, errors.New("the file is one mapping in braces")
	}
	indent := root.Fields[0].KeyPos.Column - 1
	return []Edit{s.InsertLines(s.End(), strings.Repeat(" ", indent)+key+":"+s.EOL()+lines(indent))}, nil
}

// InsertLines inserts whole lines before the numbered one. Where the text ends
// without a line end, it gets one.
func (s *Source) InsertLines(line int, text string) Edit {
	at := s.Start(line)
	if at > 0 && at == len(s.Text) && s.Start(s.Lines()) != at {
		text = s.EOL() + text
	}
	return Edit{at, at, text}
}
