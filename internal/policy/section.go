package policy

import (
	"maps"
	"slices"
	"strconv"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Section is one key of the configuration that belongs to a family.
type Section struct {
	Key string
	// Schema is the schema of its value.
	Schema string
	// New makes the settings for a file that says nothing under the key.
	New func() Settings
}

// Settings are what a configuration says under the key of a section. Those that implement [Watcher] have more files judged.
type Settings interface {
	// Values are pointers to where values are stored, by their dotted keys below the section; an empty key is the section itself.
	Values() map[string]any
	// Check judges what no schema can say.
	Check(r SectionReader)
}

// Watcher are settings that have files judged besides workspaces.
type Watcher interface {
	// Noun is what such a file is called.
	Noun() string
	// Watched are patterns of those files; Watches reports whether a path is that of one.
	Watched() []string
	Watches(path string) bool
	// FormatAt is how the log at a path is read; nil if the family reads none there.
	FormatAt(path string) *Format
}

// Format is how a family's log is read. Rule is the family's rule that judges its edits.
type Format struct {
	Rule   string
	Read   func(path string, data []byte, limits small.Limits) (*ledger.Log, []small.Problem)
	Values func(path string, data []byte, limits small.Limits) ([]*small.Value, []small.Problem)
}

// Watchers are those of the sections that the configuration has, in the order of their keys.
func (p *Policy) Watchers() (out []Watcher) {
	for _, key := range slices.Sorted(maps.Keys(p.Sections)) {
		if w, is := p.Sections[key].(Watcher); is {
			out = append(out, w)
		}
	}
	return out
}

// Watches reports whether a path is that of a file that a family judges.
func (p *Policy) Watches(path string) bool {
	return slices.ContainsFunc(p.Watchers(), func(w Watcher) bool { return w.Watches(path) })
}

// FormatAt is how a family reads the log at a path; nil if no family reads it.
func (p *Policy) FormatAt(path string) *Format {
	for _, w := range p.Watchers() {
		if f := w.FormatAt(path); f != nil {
			return f
		}
	}
	return nil
}

// SectionReader judges a section for its family.
type SectionReader struct {
	of   *reader
	key  string
	root *small.Value
}

// At is the value at a dotted key below the section; nil if there is none.
func (r SectionReader) At(key string) *small.Value { return find(r.root, join(r.key, key)) }

// Patterns reads and checks a list of glob patterns; check may be nil.
func (r SectionReader) Patterns(key string, check PatternCheck) []string {
	return r.of.patterns(r.At(key), join(r.key, key), check)
}

// CheckRuleIDs demands that levels are given only to rules that exist.
func (r SectionReader) CheckRuleIDs(key string) {
	for _, f := range r.At(key).Members() {
		r.of.rule(f.KeyPos, f.Key, join(r.key, key+"."+f.Key))
	}
}

// Report reports a problem, whose subject is a dotted key below the section.
func (r SectionReader) Report(p Problem) {
	p.Subject = join(r.key, p.Subject)
	r.of.report(p)
}

// word is a bool that the configuration writes as a word: it is true if that word is given.
type word struct {
	word string
	into *bool
}

// BoolWord is where a bool is stored that is true if the configuration says the word.
func BoolWord(text string, into *bool) any { return &word{text, into} }

// UnmarshalJSON sets the bool.
func (w *word) UnmarshalJSON(text []byte) error {
	*w.into = string(text) == strconv.Quote(w.word)
	return nil
}
