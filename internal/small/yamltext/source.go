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

// source is the text of a YAML file, cut into lines at line feeds, so that
// positions can be found in it. The parser ends a line at some further
// characters; what is edited there by mistake does not read back, and is not
// used.
type source struct {
	text []byte
	// starts are the offsets at which lines begin.
	starts []int
}

// newSource cuts a text into lines.
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

// make makes edits. It is an error if the new text does not say what the document says with value under a root key; where is for the
// error's message.
func (s *source) make(edits []edit, root *small.Value, key string, value *small.Value, where string, limits small.Limits) ([]byte, error) {
	text := s.apply(edits)
	if int64(len(text)) > limits.FileSize() {
		return nil, fmt.Errorf("it would grow beyond %d bytes", limits.FileSize())
	}
	want := *root
	want.Fields = with(root.Fields, key, value)
	if after, _ := small.Parse(text, limits); after == nil || after.Root.Canonical() != want.Canonical() {
		return nil, fmt.Errorf("the text %s cannot be changed without changing the rest", where)
	}
	return text, nil
}

// with returns the fields of a mapping with one of them set.
func with(fields []small.Field, key string, v *small.Value) []small.Field {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f small.Field) bool { return f.Key == key })
	return append(fields, small.Field{Key: key, Value: v})
}

// apply makes edits; nil if some overlap.
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

// replace gives a mapping's scalar value another text.
func (s *source) replace(f small.Field, text string) (edit, error) {
	start, end, ok := s.scalar(f)
	if !ok {
		return edit{}, fmt.Errorf("the value of %q has an anchor or a tag, is an alias, or spans lines", f.Key)
	}
	return edit{start, end, text}, nil
}

// flow reports whether a mapping is written in braces.
func (s *source) flow(v *small.Value) bool { return s.at(s.offset(v.Pos)) == '{' }

// appendKey adds a key to the root mapping at the end of the document, and its
// value's lines, which are written below a key with that many spaces before it.
func (s *source) appendKey(root *small.Value, key string, lines func(indent int) string) ([]edit, error) {
	if s.flow(root) {
		return nil, errors.New("the file is one mapping in braces")
	}
	indent := root.Fields[0].KeyPos.Column - 1
	return []edit{s.insertLines(s.end(), strings.Repeat(" ", indent)+key+":"+s.eol()+lines(indent))}, nil
}

// insertLines inserts whole lines before the numbered one. If the text ends
// without a line end, it gets one.
func (s *source) insertLines(line int, text string) edit {
	at := s.start(line)
	if at > 0 && at == len(s.text) && s.start(s.lines()) != at {
		text = s.eol() + text
	}
	return edit{at, at, text}
}
