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

// Names for entries that are not the protocol's.
const (
	Switch = "switch" // of a job's workflow; it has a time and no task
	Item   = "item"
	Line   = "line"
	File   = "file"
)

// ReadLines reads a text as a log of lines. A line ends with LF or CR LF, which its digest does not cover; a blank line is not an entry.
// A Git LFS pointer, or a conflict as git leaves it, is not a log.
func ReadLines(data []byte) (*Log, []small.Problem) {
	if small.IsLFSPointer(data) {
		return nil, []small.Problem{small.LFSPointer}
	}
	if p := small.WholeConflict(data); p != nil {
		return nil, []small.Problem{*p}
	}
	l := &Log{Ledger: NewLedger(nil), byLine: true}
	l = l.withLines(bytes.TrimPrefix(data, byteOrderMark))
	l.size = len(data)
	return l, nil
}

// withLines is the log with the lines of a text after its own.
func (l *Log) withLines(tail []byte) *Log {
	var entries []Entry
	for at, text := range nonBlankLines(tail) {
		e := Entry{Noun: Line, Pos: small.Pos{Line: l.lines + at, Column: 1}, Digest: sha256.Sum256(text)}
		entries = append(entries, e)
	}
	longer := *l
	longer.Ledger = l.withEntries(entries)
	longer.size, longer.lines = l.size+len(tail), l.lines+bytes.Count(tail, []byte("\n"))
	return &longer
}

// nonBlankLines visits the lines of a text that are not blank, with their numbers from 1.
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

// escapeInvalidUTF8 is a text in which bytes that are not UTF-8 are written as escapes.
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

// FinishedItems puts the items of a list in the order of the ledger, without open ones.
func (f *Form) FinishedItems(items []*small.Value) (out, open []*small.Value) {
	if !f.NewestFirst && !f.OpenNewest && f.Open == nil {
		return items, nil
	}
	return splitOpen(f, slices.Clone(items), f.itemIsOpen)
}

// OpenItems are the items of a list that are not finished.
func (f *Form) OpenItems(items []*small.Value) OpenEntries {
	_, open := f.FinishedItems(items)
	return OpenEntries{f.entriesOfItems(open), open}
}

// itemIsOpen matches the fields of an item as lines of the form "key: value".
func (f *Form) itemIsOpen(v *small.Value) bool {
	if v.Kind != small.Map {
		return f.Open.MatchString(v.Text)
	}
	return slices.ContainsFunc(v.Fields, func(field small.Field) bool {
		return f.Open.MatchString(field.Key + ": " + field.Value.Text)
	})
}

// LogOfItems is the log of the items of a list.
func (f *Form) LogOfItems(items []*small.Value) *Log {
	items, open := f.FinishedItems(items)
	return &Log{Ledger: OfEntries(f.entriesOfItems(items)), Open: len(open)}
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

// LogOfFile is the log that has one file for its entry: its name, its mode, and its content, of which object is the id in git. data is its text,
// in which CRLF counts as LF unless it has a NUL; nil stands for a content that only the id identifies.
func (f *Form) LogOfFile(name, mode, object string, data []byte) *Log {
	if f.Open != nil && hasLineMatching(f.Open, data) {
		return &Log{Ledger: NewLedger(nil), Open: 1}
	}
	return &Log{Ledger: OfEntries([]Entry{f.entryOfFile(name, mode, object, data)})}
}

// OpenFile is such a file, if it is not finished.
func (f *Form) OpenFile(name, mode, object string, data []byte) OpenEntries {
	if f.Open == nil || !hasLineMatching(f.Open, data) {
		return OpenEntries{}
	}
	return OpenEntries{[]Entry{f.entryOfFile(name, mode, object, data)}, []*small.Value{FileValue(mode, int64(len(data)), data)}}
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

// FileValue is such an entry in full: its mode, and each line of a text. data is nil for a file that is too large to be read.
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
