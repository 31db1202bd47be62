package witness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// State is all that a witness has seen of one repository.
type State struct {
	// Repository is its name.
	Repository string
	// Config is the content of the configuration on the default branch, by which the next run judges; nil if there was none.
	Config []byte
	Refs   []Ref
}

// Ref is one ref, by its full name, and the logs that were seen there.
type Ref struct {
	Name string
	Logs []Log
}

// Log is one log as it was seen last.
type Log struct {
	// Path is slash-separated, from the repository's root.
	Path string
	// Time is when these entries were first seen at this commit, in whole seconds.
	Time time.Time
	// Commit is the full object id of the ref's tip then.
	Commit string
	// Moved is the path where the log was seen to continue; empty while it is at Path.
	Moved   string
	Entries []small.Digest
}

// Ref returns the ref of a name; nil if it has not been seen.
func (s *State) Ref(name string) *Ref {
	at := slices.IndexFunc(s.Refs, func(r Ref) bool { return r.Name == name })
	if at < 0 {
		return nil
	}
	return &s.Refs[at]
}

// Latest returns the log that was seen last; the zero Log without any.
func Latest(logs []Log) Log {
	if len(logs) == 0 {
		return Log{}
	}
	return slices.MaxFunc(logs, func(a, b Log) int { return a.Time.Compare(b.Time) })
}

// header is the first line. Another version of the form has another one.
const header = "small-gate witness 1"

// The words that begin a line.
const (
	wordRepository = "repository"
	wordConfig     = "|"
	wordRef        = "ref"
	wordLog        = "log"
	wordTime       = "time"
	wordCommit     = "commit"
	wordMoved      = "moved"
	wordEntries    = "entries"
	wordHead       = "head"
)

// Text writes the state, refs and logs in order of their names. The same state has the same text.
func (s *State) Text() []byte {
	var out strings.Builder
	line := func(word, value string) { out.WriteString(word + " " + value + "\n") }
	out.WriteString(header + "\n")
	line(wordRepository, quoted(s.Repository))
	if s.Config != nil {
		for _, l := range strings.Split(string(s.Config), "\n") {
			out.WriteString(wordConfig + quoted(l) + "\n")
		}
	}
	for _, r := range slices.SortedFunc(slices.Values(s.Refs), func(a, b Ref) int { return strings.Compare(a.Name, b.Name) }) {
		out.WriteString("\n")
		line(wordRef, quoted(r.Name))
		for _, l := range slices.SortedFunc(slices.Values(r.Logs), func(a, b Log) int { return strings.Compare(a.Path, b.Path) }) {
			line(wordLog, quoted(l.Path))
			line(wordTime, l.Time.UTC().Format(time.RFC3339))
			line(wordCommit, l.Commit)
			if l.Moved != "" {
				line(wordMoved, quoted(l.Moved))
			}
			line(wordEntries, strconv.Itoa(len(l.Entries)))
			line(wordHead, ledger.HeadOf(l.Entries).String())
			for _, d := range l.Entries {
				out.WriteString(d.String() + "\n")
			}
		}
	}
	return []byte(out.String())
}

// quoted writes a text on one line: as it is, or quoted as in Go if it holds what nobody sees on a line, or
// could be taken for a quoted one.
func quoted(text string) string {
	plain := utf8.ValidString(text) && !strings.HasPrefix(text, `"`) && !strings.HasSuffix(text, " ") && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
	if plain {
		return text
	}
	return strconv.QuoteToASCII(text)
}

func unquoted(text string) (string, error) {
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	out, err := strconv.Unquote(text)
	if err != nil {
		return "", fmt.Errorf("a text begins with a quotation mark and is not quoted to its end")
	}
	return out, nil
}
