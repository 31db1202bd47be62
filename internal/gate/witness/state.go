package witness

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// State is everything that a witness has seen of one repository, as in its file.
type State struct {
	// Version is the format's version. Text sets it.
	Version int `json:"version"`
	// Repository is its name.
	Repository string `json:"repository"`
	// Config is the configuration on the default branch, line by line, by which the next run judges; nil if there was none.
	Config []string `json:"config,omitempty"`
	Refs   []Ref    `json:"refs"`
}

// Ref is one ref, by its full name, and the logs that were seen there.
type Ref struct {
	Name string `json:"ref"`
	Logs []Log  `json:"logs,omitempty"`
}

// Log is one log as last seen.
type Log struct {
	// Path is slash-separated, from the repository's root.
	Path string `json:"log"`
	// Time is when these entries were first seen at this commit, in whole seconds.
	Time time.Time `json:"time"`
	// Commit is the full object id of the ref's tip at that time.
	Commit string `json:"commit"`
	// Moved is the path at which the log was seen to continue; empty while it is at Path.
	Moved string `json:"moved,omitempty"`
	// Head is the head of the entries. Text sets it.
	Head small.Digest `json:"head"`
	// Entries are the whole digests of the entries. Compared are the digests by which the log compares them, in the same order; it is empty if
	// the log compares whole entries.
	Entries  []small.Digest `json:"entries,omitempty"`
	Compared []small.Digest `json:"compared,omitempty"`
}

// SetEntries sets Entries and Compared to the entries of a ledger.
func (l *Log) SetEntries(of *ledger.Ledger) {
	l.Entries, l.Compared = make([]small.Digest, of.Len()), ledger.DigestsOf(of)
	for i := range of.Entries {
		l.Entries[i] = of.Entries[i].WholeDigest()
	}
	if slices.Equal(l.Entries, l.Compared) {
		l.Compared = nil
	}
}

// Ledger returns the log's ledger, whose entries have nothing but their digests.
func (l *Log) Ledger() *ledger.Ledger {
	entries := make([]ledger.Entry, len(l.Entries))
	for i, d := range l.Entries {
		entries[i] = ledger.Entry{Digest: d, Whole: d}
		if len(l.Compared) > 0 {
			entries[i].Digest = l.Compared[i]
		}
	}
	return ledger.OfEntries(entries)
}

// Ref returns the ref with a name; nil if it has not been seen.
func (s *State) Ref(name string) *Ref {
	at := slices.IndexFunc(s.Refs, func(r Ref) bool { return r.Name == name })
	if at < 0 {
		return nil
	}
	return &s.Refs[at]
}

// Latest returns the log that was last seen; the zero Log if there is none.
func Latest(logs []Log) Log {
	if len(logs) == 0 {
		return Log{}
	}
	return slices.MaxFunc(logs, func(a, b Log) int { return a.Time.Compare(b.Time) })
}

// version is the format's version.
const version = 1

// Text writes the state as JSON, refs and logs sorted by name. Equal states have equal texts.
func (s *State) Text() ([]byte, error) {
	out := State{Version: version, Repository: quoted(s.Repository)}
	for _, l := range s.Config {
		out.Config = append(out.Config, quoted(l))
	}
	for _, r := range s.Refs {
		logs := slices.SortedFunc(slices.Values(r.Logs), func(a, b Log) int { return strings.Compare(a.Path, b.Path) })
		for i := range logs {
			l := &logs[i]
			l.Path, l.Moved, l.Time, l.Head = quoted(l.Path), quoted(l.Moved), l.Time.UTC().Truncate(time.Second), ledger.HeadOf(l.Entries)
		}
		out.Refs = append(out.Refs, Ref{Name: r.Name, Logs: logs})
	}
	slices.SortFunc(out.Refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	for i := range out.Refs {
		out.Refs[i].Name = quoted(out.Refs[i].Name)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(out)
	return text.Bytes(), err
}

// quoted returns a text unchanged, or quoted as in Go if it has bytes that JSON cannot represent or invisible characters, or begins with a
// quotation mark.
func quoted(text string) string {
	hidden := func(r rune) bool { return r >= ' ' && !unicode.IsPrint(r) } // JSON escapes lower ones
	if utf8.ValidString(text) && !strings.HasPrefix(text, `"`) && !strings.ContainsFunc(text, hidden) {
		return text
	}
	return strconv.QuoteToASCII(text)
}

// unquote undoes quoted. It leaves a text that quoted would not write; exact rejects such a text.
func unquote(text *string) {
	if out, err := strconv.Unquote(*text); err == nil && strings.HasPrefix(*text, `"`) {
		*text = out
	}
}
