package ledger

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/small"
)

// The nouns of entries that are not the protocol's.
const (
	Switch = "switch" // in the history of a job's workflow; it has a time but no task
	Item   = "item"
	Line   = "line"
	File   = "file"
)

// withLines returns the log with the lines of tail appended.
func (l *Log) withLines(tail []byte) *Log {
	entries := make([]Entry, 0, countNonBlankLines(tail))
	for at, text := range nonBlankLines(tail) {
		e := Entry{Noun: Line, Pos: small.Pos{Line: l.lines + at, Column: 1}, Digest: sha256.Sum256(text)}
		if !l.byLine.ComparesWhole() {
			e.Whole = e.Digest
			e.Digest = l.byLine.comparedDigest(text, e.Whole)
		}
		entries = append(entries, e)
	}
	longer := *l
	longer.Ledger = l.withEntries(entries)
	longer.size, longer.lines = l.size+len(tail), l.lines+bytes.Count(tail, []byte("\n"))
	return &longer
}

// nonBlankLines yields each line that is not blank, without its line end, and its number from 1.
func nonBlankLines(data []byte) func(yield func(int, []byte) bool) {
	return func(yield func(int, []byte) bool) {
		at := 0
		for line := range bytes.Lines(data) {
			at++
			line = bytes.TrimSuffix(line, []byte("\n"))
			if line = bytes.TrimSuffix(line, []byte("\r")); len(bytes.TrimSpace(line)) > 0 && !yield(at, line) {
				return
			}
		}
	}
}

func countNonBlankLines(data []byte) (n int) {
	for range nonBlankLines(data) {
		n++
	}
	return n
}

// escapeInvalidUTF8 returns a text with each byte that is not valid UTF-8 written as an escape.
func escapeInvalidUTF8(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	var out strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&out, `\x%02x`, text[0])
		} else {
			out.Write(text[:n])
		}
		text = text[n:]
	}
	return out.String()
}

// FinishedItems separates open items of a list from finished ones, and returns both oldest first.
func (f *Form) FinishedItems(items []*small.Value) (out, open []*small.Value) {
	if !f.NewestFirst && !f.OpenNewest && f.Open == nil {
		return items, nil
	}
	return splitOpen(f, slices.Clone(items), f.itemIsOpen)
}

// OpenItems returns the items of a list that are not finished.
func (f *Form) OpenItems(items []*small.Value) OpenEntries {
	_, open := f.FinishedItems(items)
	return OpenEntries{f.entriesOfItems(open), open}
}

// itemIsOpen reports whether f.Open matches a scalar item, or a field of a mapping written as "key: value".
func (f *Form) itemIsOpen(v *small.Value) bool {
	if v.Kind != small.Map {
		return f.Open.MatchString(v.Text)
	}
	return slices.ContainsFunc(v.Fields, func(field small.Field) bool {
		return f.Open.MatchString(field.Key + ": " + field.Value.Text)
	})
}

// LogOfItems returns the log of a list's finished items.
func (f *Form) LogOfItems(items []*small.Value) *Log {
	items, open := f.FinishedItems(items)
	return &Log{Ledger: new(Ledger).withEntries(f.entriesOfItems(items)), Open: len(open)}
}

func (f *Form) entriesOfItems(items []*small.Value) []Entry {
	entries := make([]Entry, len(items))
	var digests small.Digester
	for i, item := range items {
		whole := digests.EntryDigest(item)
		entries[i] = Entry{Noun: Item, Pos: item.Pos, Whole: whole, Digest: f.identityOf(item, whole)}
	}
	return entries
}

// LogOfFile returns the log whose only entry is a file: its name, mode and content. object is the content's id in git. data is the content,
// or nil if only the id is known; in text, CRLF counts as LF. Content with a NUL is not text and is compared by its id. The log of an open
// file has no entry.
func (f *Form) LogOfFile(name, mode, object string, data []byte) *Log {
	if f.fileIsOpen(data) {
		return &Log{Ledger: NewLedger(nil), Open: 1}
	}
	return &Log{Ledger: OfEntries([]Entry{f.entryOfFile(name, mode, object, data)})}
}

// OpenFile returns the entry of such a file if it is open, otherwise none.
func (f *Form) OpenFile(name, mode, object string, data []byte) OpenEntries {
	if !f.fileIsOpen(data) {
		return OpenEntries{}
	}
	return OpenEntries{[]Entry{f.entryOfFile(name, mode, object, data)}, []*small.Value{FileValue(mode, int64(len(data)), data)}}
}

// fileIsOpen reports whether a line of a file matches f.Open. A byte order mark is part of no line.
func (f *Form) fileIsOpen(data []byte) bool {
	return f.Open != nil && hasLineMatching(f.Open, bytes.TrimPrefix(data, byteOrderMark))
}

func (f *Form) entryOfFile(name, mode, object string, data []byte) Entry {
	sum := func(content string) small.Digest {
		return sha256.Sum256([]byte(name + "\x00" + mode + "\x00" + content))
	}
	e := Entry{Noun: File, Pos: small.Pos{Line: 1, Column: 1}, Whole: sum(object)}
	if e.Digest = e.Whole; data != nil && bytes.IndexByte(data, 0) < 0 {
		text := bytes.ReplaceAll(bytes.TrimPrefix(data, byteOrderMark), []byte("\r\n"), []byte("\n"))
		if f.WithoutLines != nil {
			text = removeLines(f.WithoutLines, text)
		}
		content := sha256.Sum256(text)
		e.Digest = sum(string(content[:]))
	}
	return e
}

// FileValue returns the entry of a file in full: its mode and each line that is not blank. Instead of lines it has the size if data is
// shorter than that, because the file is too large to read, and size and hash if the content is not text.
func FileValue(mode string, size int64, data []byte) *small.Value {
	v := &small.Value{Kind: small.Map, Pos: small.Pos{Line: 1, Column: 1}}
	add := func(key, text string, pos small.Pos) {
		v.Fields = append(v.Fields, small.Field{Key: key, KeyPos: pos, Value: &small.Value{Kind: small.String, Text: text, Pos: pos}})
	}
	switch {
	case int64(len(data)) < size:
		add("content", fmt.Sprintf("%d bytes", size), v.Pos)
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		add("content", fmt.Sprintf("%d bytes, sha256:%x", len(data), sha256.Sum256(data)), v.Pos)
	default:
		for at, line := range nonBlankLines(data) {
			add("line "+strconv.Itoa(at), string(line), small.Pos{Line: at, Column: 1})
		}
	}
	add("mode", mode, v.Pos)
	return v
}
