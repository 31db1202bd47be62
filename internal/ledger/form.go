package ledger

import (
	"bytes"
	"crypto/sha256"
	"regexp"
	"slices"
	"sync"

	"github.com/small-gate/small-gate/internal/small"
)

// Block is what an entry of several lines is called.
const Block = "block"

// Form says how the entries of a configured log are read, and when two of them are the same. The zero Form reads lines and compares them
// whole.
type Form struct {
	// Start matches the first line of a block. Without it each line is an entry.
	Start *regexp.Regexp
	// Without names the fields of a JSON object, or of a list's item, that are not compared; Only names those that alone are compared. An
	// entry that is not such an object, or lacks all of these fields, is compared whole.
	Without, Only []string
	// WithoutLines matches the lines of a block or file that are not compared.
	WithoutLines *regexp.Regexp
	// NewestFirst is true if new entries stand before older ones. The ledger has the oldest entry first.
	NewestFirst bool
	// OpenNewest and Open say which entries are not finished, and count as absent: the newest one, or those of which a line matches.
	OpenNewest bool
	Open       *regexp.Regexp
	// Cache remembers what was compared of entries; nil if nothing is to be remembered. Versions of a log have most of their entries in common.
	Cache *IdentityCache
}

// IdentityCache remember by which digests entries are compared, by the digests of all of them. They can be used at the same time by several.
type IdentityCache struct {
	mutex   sync.Mutex
	digests map[small.Digest]small.Digest
}

// maxIdentities is how many are remembered, which takes about 16 MB.
const maxIdentities = 1 << 17

// getOrFind returns what is remembered, or else finds it out and remembers it.
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

// ComparesWhole reports whether entries are the same only if all of them is.
func (f *Form) ComparesWhole() bool {
	return len(f.Without)+len(f.Only) == 0 && f.WithoutLines == nil
}

// AppendsLines reports whether what stands behind the text of one version is all that a later one adds.
func (f *Form) AppendsLines() bool {
	return f.Start == nil && len(f.Without) == 0 && len(f.Only) == 0 && !f.NewestFirst && !f.OpenNewest && f.Open == nil
}

// part is one entry of a text: its first line, from 1, and its text with line feeds alone.
type part struct {
	line int
	text []byte
}

// byteOrderMark may stand at the beginning of a file, and is not compared.
var byteOrderMark = []byte("\ufeff")

// Read reads a text as a log. A Git LFS pointer, or a conflict as git leaves it, is not a log.
func (f *Form) Read(data []byte) (*Log, []small.Problem) {
	if small.IsLFSPointer(data) {
		return nil, []small.Problem{small.LFSPointer}
	}
	if p := small.WholeConflict(data); p != nil {
		return nil, []small.Problem{*p}
	}
	parts, open := f.separateOpen(f.splitText(data))
	return &Log{Ledger: OfEntries(f.entriesOfParts(parts)), Open: len(open)}, nil
}

// entriesOfParts are the parts of a text as entries.
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

// Values are the entries of a log of text in full, in the order of the ledger.
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

// OpenText are the entries of a text that are not finished.
func (f *Form) OpenText(data []byte) OpenEntries {
	_, open := f.separateOpen(f.splitText(data))
	return OpenEntries{f.entriesOfParts(open), f.valuesOfParts(open)}
}

// splitText cuts a text into entries, in the order of the file.
func (f *Form) splitText(data []byte) []part {
	var out []part
	line := 0
	for text := range bytes.Lines(bytes.TrimPrefix(data, byteOrderMark)) {
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

// wholeText is the text of an entry that identity: whole covers: a block without blank lines at its end.
func (f *Form) wholeText(text []byte) []byte {
	if f.Start == nil {
		return text
	}
	return trimBlankEnd(text)
}

// separateOpen puts the entries in the order of the ledger, without open ones.
func (f *Form) separateOpen(parts []part) (out, open []part) {
	return splitOpen(f, parts, func(p part) bool { return hasLineMatching(f.Open, p.text) })
}

// splitOpen puts entries in the order of the ledger, and separates open ones; matches is asked only if a regular expression says which they are.
func splitOpen[T any](f *Form, all []T, matches func(T) bool) (finished, open []T) {
	if f.NewestFirst {
		slices.Reverse(all)
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

// hasLineMatching reports whether a regular expression matches one of a text's lines.
func hasLineMatching(pattern *regexp.Regexp, text []byte) bool {
	for line := range bytes.Lines(text) {
		if pattern.Match(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))) {
			return true
		}
	}
	return false
}

// comparedDigest is the digest by which an entry of text is compared; whole is that of all of it.
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

// identityOf is the digest by which an entry with fields is compared; whole is that of all of it.
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

// removeLines is a text without the lines that a regular expression matches, and with line feeds alone.
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

// trimBlankEnd is a text without the blank lines and the line end at its end.
func trimBlankEnd(text []byte) []byte {
	for {
		at := bytes.LastIndexByte(text, '\n')
		if at < 0 || len(bytes.TrimSpace(text[at:])) > 0 {
			return text
		}
		text = text[:at]
	}
}
