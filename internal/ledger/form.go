package ledger

import (
	"bytes"
	"crypto/sha256"
	"regexp"
	"slices"
	"sync"

	"github.com/small-gate/small-gate/internal/small"
)

// Block is the noun of an entry of several lines.
const Block = "block"

// Form says how the entries of a configured log are read, and which part of them is compared. The zero Form reads lines and compares all of
// each.
type Form struct {
	// Start matches the first line of a block. If it is nil, each line is an entry.
	Start *regexp.Regexp
	// Without names the fields of a JSON object or list item that are not compared; Only names the only fields that are. An entry that is no
	// object, or has none of the named fields, is compared whole.
	Without, Only []string
	// WithoutLines matches the lines of a block or file that are not compared.
	WithoutLines *regexp.Regexp
	// NewestFirst is true if the file has new entries above older ones. The ledger has the oldest entry first.
	NewestFirst bool
	// OpenNewest makes the newest entry open, Open each entry with a line that it matches. Open entries are not finished, and not in the
	// ledger.
	OpenNewest bool
	Open       *regexp.Regexp
	// Cache keeps the digests of entries, most of which the versions of a log share; nil for no cache.
	Cache *IdentityCache
}

// IdentityCache maps the digest of an entire entry to the digest by which the entry is compared. Goroutines may share it.
type IdentityCache struct {
	mutex   sync.Mutex
	digests map[small.Digest]small.Digest
}

// maxIdentities bounds the cache to about 16 MB. A full cache is emptied.
const maxIdentities = 1 << 17

// getOrFind returns the cached digest for whole, or calls find and caches its result. A nil cache always calls find.
func (k *IdentityCache) getOrFind(whole small.Digest, find func() small.Digest) small.Digest {
	if k == nil {
		return find()
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if known, is := k.digests[whole]; is {
		return known
	}
	if k.digests == nil || len(k.digests) >= maxIdentities {
		k.digests = map[small.Digest]small.Digest{}
	}
	found := find()
	k.digests[whole] = found
	return found
}

// ComparesWhole reports whether all of an entry is compared.
func (f *Form) ComparesWhole() bool {
	return len(f.Without)+len(f.Only) == 0 && f.WithoutLines == nil
}

// AppendsLines reports whether each entry is a line, and the lines of the file are those of the ledger in the same order. [Log.Extend] reads such a log
// line by line.
func (f *Form) AppendsLines() bool {
	return f.Start == nil && !f.NewestFirst && !f.OpenNewest && f.Open == nil
}

// part is the text of one entry, with LF line ends, and the number of its first line, from 1.
type part struct {
	line int
	text []byte
}

// byteOrderMark may begin a file, and is not compared.
var byteOrderMark = []byte("\ufeff")

// Read reads a text as a log. If lines are the entries, each line that is not blank is one, whose digest does not cover the line end (LF or CR LF). A
// Git LFS pointer or a file with git's conflict markers is not a log.
func (f *Form) Read(data []byte) (*Log, []small.Problem) {
	if small.IsLFSPointer(data) {
		return nil, []small.Problem{small.LFSPointer}
	}
	if p := small.WholeConflict(data); p != nil {
		return nil, []small.Problem{*p}
	}
	if f.AppendsLines() {
		l := (&Log{Ledger: NewLedger(nil), byLine: f}).withLines(bytes.TrimPrefix(data, byteOrderMark))
		l.size = len(data)
		return l, nil
	}
	parts, open := f.separateOpen(f.splitText(data))
	return &Log{Ledger: new(Ledger).withEntries(f.entriesOfParts(parts)), Open: len(open)}, nil
}

func (f *Form) entriesOfParts(parts []part) []Entry {
	noun := Line
	if f.Start != nil {
		noun = Block
	}
	entries := make([]Entry, len(parts))
	for i, p := range parts {
		entries[i] = Entry{Noun: noun, Pos: small.Pos{Line: p.line, Column: 1}, Whole: sha256.Sum256(f.wholeText(p.text))}
		entries[i].Digest = f.comparedDigest(p.text, entries[i].Whole)
	}
	return entries
}

// Values returns the finished entries of a text in full, oldest first.
func (f *Form) Values(data []byte) []*small.Value {
	parts, _ := f.separateOpen(f.splitText(data))
	return f.valuesOfParts(parts)
}

func (f *Form) valuesOfParts(parts []part) []*small.Value {
	out := make([]*small.Value, len(parts))
	for i, p := range parts {
		out[i] = &small.Value{Kind: small.String, Text: escapeInvalidUTF8(f.wholeText(p.text)), Pos: small.Pos{Line: p.line, Column: 1}}
	}
	return out
}

// OpenText returns the entries of a text that are not finished.
func (f *Form) OpenText(data []byte) OpenEntries {
	_, open := f.separateOpen(f.splitText(data))
	return OpenEntries{f.entriesOfParts(open), f.valuesOfParts(open)}
}

// splitText cuts a text into its entries, in the order of the file. Lines above the first block are dropped.
func (f *Form) splitText(data []byte) []part {
	data = bytes.TrimPrefix(data, byteOrderMark)
	var out []part
	if f.Start == nil {
		out = make([]part, 0, countNonBlankLines(data))
	}
	line := 0
	for text := range bytes.Lines(data) {
		line++
		text = bytes.TrimSuffix(text, []byte("\n"))
		text = bytes.TrimSuffix(text, []byte("\r"))
		switch {
		case f.Start == nil && len(bytes.TrimSpace(text)) > 0, f.Start != nil && f.Start.Match(text):
			out = append(out, part{line: line, text: slices.Clip(text)})
		case f.Start != nil && len(out) > 0:
			last := &out[len(out)-1]
			last.text = append(append(last.text, '\n'), text...)
		}
	}
	return out
}

// wholeText returns the text of an entry that `identity: whole` covers: a block without the blank lines at its end.
func (f *Form) wholeText(text []byte) []byte {
	if f.Start == nil {
		return text
	}
	return trimBlankEnd(text)
}

// separateOpen separates open entries of a text from finished ones, and returns both oldest first.
func (f *Form) separateOpen(parts []part) (out, open []part) {
	return splitOpen(f, parts, func(p part) bool { return hasLineMatching(f.Open, p.text) })
}

// splitOpen separates open entries from finished ones, and returns both oldest first. It may reverse all in place, and calls matches only if
// f.Open is set.
func splitOpen[T any](f *Form, all []T, matches func(T) bool) (finished, open []T) {
	if f.NewestFirst {
		slices.Reverse(all)
	}
	if !f.OpenNewest && f.Open == nil {
		return all, nil
	}
	for i, e := range all {
		if f.OpenNewest && i == len(all)-1 || f.Open != nil && matches(e) {
			open = append(open, e)
		} else {
			finished = append(finished, e)
		}
	}
	return finished, open
}

// hasLineMatching reports whether a regular expression matches one of a text's lines, without the line end.
func hasLineMatching(pattern *regexp.Regexp, text []byte) bool {
	for line := range bytes.Lines(text) {
		if pattern.Match(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))) {
			return true
		}
	}
	return false
}

// comparedDigest returns the digest by which an entry of text is compared; whole is the digest of all of it.
func (f *Form) comparedDigest(text []byte, whole small.Digest) small.Digest {
	switch {
	case f.WithoutLines != nil:
		return sha256.Sum256(trimBlankEnd(removeLines(f.WithoutLines, text)))
	case len(f.Without) == 0 && len(f.Only) == 0:
		return whole
	}
	return f.Cache.getOrFind(whole, func() small.Digest {
		doc, problems := small.ParseJSON(text, small.Limits{})
		if doc == nil || len(problems) > 0 {
			return whole
		}
		return f.identityOf(doc.Root, whole)
	})
}

// identityOf returns the digest by which an entry with fields is compared; whole is the digest of all of it.
func (f *Form) identityOf(v *small.Value, whole small.Digest) small.Digest {
	names, only := f.Without, false
	if len(f.Only) > 0 {
		names, only = f.Only, true
	}
	if len(names) == 0 || v.Kind != small.Map || !slices.ContainsFunc(names, func(name string) bool { return v.Get(name) != nil }) {
		return whole
	}
	rest := *v
	rest.Fields = slices.DeleteFunc(slices.Clone(v.Fields), func(field small.Field) bool {
		return slices.Contains(names, field.Key) != only
	})
	return small.EntryDigest(&rest)
}

// removeLines returns a text with LF line ends, without the lines that a regular expression matches.
func removeLines(pattern *regexp.Regexp, text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		content := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if !pattern.Match(content) {
			out = append(append(out, content...), line[len(bytes.TrimSuffix(line, []byte("\n"))):]...)
		}
	}
	return out
}

// trimBlankEnd removes the blank lines and the line end at the end of a text.
func trimBlankEnd(text []byte) []byte {
	for {
		at := bytes.LastIndexByte(text, '\n')
		if at < 0 || len(bytes.TrimSpace(text[at:])) > 0 {
			return text
		}
		text = text[:at]
	}
}
