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

// source is the text of a YAML file, cut into lines at line feeds to find positions. The parser also ends lines at
// other characters; applyChecked refuses an edit that these misplace.
type source struct {
	text []byte
	// starts are the offsets at which lines begin.
	starts []int
}

func newSource(text []byte) *source {
	s := &source{text: text, starts: []int{0}}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		s.starts[0] = len("\ufeff") // columns do not count a byte order mark
	}
	for i, c := range text {
		if c == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	return s
}

// eol returns the line end that the file's first line has.
func (s *source) eol() string {
	if i := bytes.IndexByte(s.text, '\n'); i > 0 && s.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineCount counts the lines, with an empty one after the last line end.
func (s *source) lineCount() int { return len(s.starts) }

// lineStart returns the offset at which a line begins, or the end of the text if there is no such line. Lines count
// from 1.
func (s *source) lineStart(line int) int {
	if line > len(s.starts) {
		return len(s.text)
	}
	return s.starts[line-1]
}

// lineText returns a line without its end.
func (s *source) lineText(line int) string {
	text := s.text[s.lineStart(line):s.lineStart(line+1)]
	return strings.TrimRight(string(text), "\r\n")
}

// offset returns the offset of a position, or the end of the text for one outside.
func (s *source) offset(pos small.Pos) int {
	i := s.lineStart(pos.Line)
	for col := 1; col < pos.Column && i < len(s.text); col++ {
		_, n := utf8.DecodeRune(s.text[i:])
		i += n
	}
	return i
}

// byteAt returns the byte at an offset, 0 outside the text.
func (s *source) byteAt(offset int) byte {
	if offset >= 0 && offset < len(s.text) {
		return s.text[offset]
	}
	return 0
}

// documentEndLine returns the number of the line after the document: that of a `...` marker, or the one after the
// last.
func (s *source) documentEndLine() int {
	for n := 1; n <= s.lineCount(); n++ {
		if l := s.lineText(n); l == "..." || strings.HasPrefix(l, "... ") {
			return n
		}
	}
	if s.lineStart(s.lineCount()) == len(s.text) {
		return s.lineCount()
	}
	return s.lineCount() + 1
}

// edit replaces the bytes from start to end.
type edit struct {
	start, end int
	text       string
}

// applyChecked applies edits. It fails if the new text does not parse as root with value under key; where names the
// place in the error's message.
func (s *source) applyChecked(edits []edit, root *small.Value, key string, value *small.Value, where string, limits small.Limits) ([]byte, error) {
	text := s.apply(edits)
	if int64(len(text)) > limits.FileSize() {
		return nil, fmt.Errorf("it would grow beyond %d bytes", limits.FileSize())
	}
	want := *root
	want.Fields = setField(root.Fields, key, value)
	if after, _ := small.Parse(text, limits); after == nil || after.Root.Canonical() != want.Canonical() {
		return nil, fmt.Errorf("the text %s cannot be changed without changing the rest", where)
	}
	return text, nil
}

// setField returns a copy of a mapping's fields in which key has the value v.
func setField(fields []small.Field, key string, v *small.Value) []small.Field {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f small.Field) bool { return f.Key == key })
	return append(fields, small.Field{Key: key, Value: v})
}

// apply returns the text after edits; nil if some overlap.
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

// replaceScalar replaces the text of a member's scalar value.
func (s *source) replaceScalar(f small.Field, text string) (edit, error) {
	if kind := f.Value.Kind; kind == small.Map || kind == small.List {
		return edit{}, fmt.Errorf("%q is %s; a single value is expected", f.Key, kind)
	}
	start, end, ok := s.findScalar(f)
	if start == end {
		text = " " + text
	}
	if !ok {
		return edit{}, fmt.Errorf("the value of %q has an anchor or a tag, is an alias, or spans lines", f.Key)
	}
	return edit{start, end, text}, nil
}

// isInBraces reports whether a mapping is written in braces.
func (s *source) isInBraces(v *small.Value) bool { return s.byteAt(s.offset(v.Pos)) == '{' }

// appendKey adds a key at the end of the document, and below it the lines of its value, which depend on the key's
// indentation in spaces.
func (s *source) appendKey(root *small.Value, key string, lines func(indent int) string) ([]edit, error) {
	if s.isInBraces(root) {
		return nil, errors.New("the file is one mapping in braces")
	}
	if len(root.Fields) == 0 { // with a tag or an anchor before the braces
		return nil, errors.New("the file is one empty mapping")
	}
	indent := root.Fields[0].KeyPos.Column - 1
	return []edit{s.insertLines(s.documentEndLine(), strings.Repeat(" ", indent)+key+":"+s.eol()+lines(indent))}, nil
}

// insertLines inserts whole lines before a line. After a text that lacks a final line end, it adds that first.
func (s *source) insertLines(line int, text string) edit {
	at := s.lineStart(line)
	if at > 0 && at == len(s.text) && s.lineStart(s.lineCount()) != at {
		text = s.eol() + text
	}
	return edit{at, at, text}
}
