package policy

import (
	"maps"
	"slices"
	"strconv"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Section is one top-level key of the configuration that belongs to a rule family.
type Section struct {
	Key string
	// Schema is the JSON Schema of the key's value.
	Schema string
	// New returns the settings with their defaults.
	New func() Settings
}

// Settings are the values under a section's key. Settings that implement [Watcher] name further files to judge.
type Settings interface {
	// Values returns pointers that the values are stored through, by dotted key below the section. An empty key is the section itself.
	Values() map[string]any
	// Check reports problems that no schema can find.
	Check(r SectionReader)
}

// Watcher is implemented by settings that name files to judge in addition to workspaces.
type Watcher interface {
	// Noun returns the word for such a file in messages.
	Noun() string
	// Watched returns patterns for those files.
	Watched() []string
	// Watches reports whether the file at a path is one of them.
	Watches(path string) bool
	// FormatAt returns how the log at a path is read; nil if the family reads no log there.
	FormatAt(path string) *Format
}

// Format says how a family's log is read.
type Format struct {
	// Rule is the id of the family's rule that judges edits of the log.
	Rule string
	// Read returns the log, Values its entries in full.
	Read   func(path string, data []byte, limits small.Limits) (*ledger.Log, []small.Problem)
	Values func(path string, data []byte, limits small.Limits) ([]*small.Value, []small.Problem)
}

// Watchers returns the settings that are watchers, in the order of their section keys.
func (p *Policy) Watchers() (out []Watcher) {
	for _, key := range slices.Sorted(maps.Keys(p.Sections)) {
		if w, is := p.Sections[key].(Watcher); is {
			out = append(out, w)
		}
	}
	return out
}

// Watches reports whether a rule family judges the file at a path.
func (p *Policy) Watches(path string) bool {
	return slices.ContainsFunc(p.Watchers(), func(w Watcher) bool { return w.Watches(path) })
}

// FormatAt returns how a family reads the log at a path; nil if no family does.
func (p *Policy) FormatAt(path string) *Format {
	for _, w := range p.Watchers() {
		if f := w.FormatAt(path); f != nil {
			return f
		}
	}
	return nil
}

// SectionReader lets a family read and check its section.
type SectionReader struct {
	reader *reader
	key    string
	root   *small.Value
}

// At returns the value at a dotted key below the section; nil if there is none.
func (r SectionReader) At(key string) *small.Value { return find(r.root, join(r.key, key)) }

// Patterns reads and checks the list of glob patterns at a key; check may be nil.
func (r SectionReader) Patterns(key string, check PatternCheck) []string {
	return r.reader.readPatterns(r.At(key), join(r.key, key), check)
}

// CheckRuleIDs reports each key of the mapping at a key that is not the id of a rule.
func (r SectionReader) CheckRuleIDs(key string) {
	for _, f := range r.At(key).Members() {
		r.reader.checkRuleID(f.KeyPos, f.Key, join(r.key, key+"."+f.Key))
	}
}

// Report reports a problem. Its subject is a dotted key below the section.
func (r SectionReader) Report(p Problem) {
	p.Subject = join(r.key, p.Subject)
	r.reader.report(p)
}

// boolWord reads a bool that the configuration writes as one of two words. The bool is true for whenTrue.
type boolWord struct {
	whenTrue string
	into     *bool
}

// BoolWord returns a value for [Settings.Values]: it sets the bool to whether the configuration has the word whenTrue.
func BoolWord(whenTrue string, into *bool) any { return &boolWord{whenTrue, into} }

// UnmarshalJSON sets the bool.
func (w *boolWord) UnmarshalJSON(text []byte) error {
	*w.into = string(text) == strconv.Quote(w.whenTrue)
	return nil
}
