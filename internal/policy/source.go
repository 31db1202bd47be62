package policy

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/small"
)

// source is the text of a configuration, cut into lines where positions cut
// it, so that they can be found in it. The parser ends a line at some further
// characters; what is edited there by mistake does not read back, and is not
// used.
type source struct {
	text []byte
	// starts are the offsets at which lines begin.
	starts []int
}

func newSource(text []byte) *source {
	s := &source{text: text, starts: []int{0}}
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

// eol is what ends a line in this file.
func (s *source) eol() string {
	if i := bytes.IndexByte(s.text, '\n'); i > 0 && s.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lines is the number of lines; an empty one after the last line end counts.
func (s *source) lines() int { return len(s.starts) }

// start is the offset at which a line begins (1 is the first), the end of the
// text for a line that is not there.
func (s *source) start(line int) int {
	if line > len(s.starts) {
		return len(s.text)
	}
	return s.starts[line-1]
}

// line is the text of a line without its end.
func (s *source) line(line int) string {
	text := s.text[s.start(line):s.start(line+1)]
	return strings.TrimRight(string(text), "\r\n")
}

// offset is the offset of a position, the end of the text for one outside.
func (s *source) offset(pos small.Pos) int {
	i := s.start(pos.Line)
	for col := 1; col < pos.Column && i < len(s.text); col++ {
		_, n := utf8.DecodeRune(s.text[i:])
		i += n
	}
	return i
}

// at is the byte at an offset, 0 outside the text.
func (s *source) at(offset int) byte {
	if offset >= 0 && offset < len(s.text) {
		return s.text[offset]
	}
	return 0
}

// end is the number of the line before which the document ends: that of a
// `...` marker, or the one after the last.
func (s *source) end() int {
	for n := 1; n <= s.lines(); n++ {
		if l := s.line(n); l == "..." || strings.HasPrefix(l, "... ") {
			return n
		}
	}
	if s.start(s.lines()) == len(s.text) {
		return s.lines()
	}
	return s.lines() + 1
}

// edit replaces the bytes from start to end.
type edit struct {
	start, end int
	text       string
}

// apply makes edits. Edits that overlap make nothing.
func (s *source) apply(edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var out []byte
	done := 0
	for _, e := range edits {
		if e.start < done {
			return nil
		}
		out = append(out, s.text[done:e.start]...)
		out = append(out, e.text...)
		done = e.end
	}
	return append(out, s.text[done:]...)
}

// insertLines inserts whole lines before the numbered one. Where the text ends
// without a line end, it gets one.
func (s *source) insertLines(line int, text string) edit {
	at := s.start(line)
	if at > 0 && at == len(s.text) && s.start(s.lines()) != at {
		text = s.eol() + text
	}
	return edit{at, at, text}
}
