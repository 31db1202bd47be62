package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// The kinds of logs: how entries are read from what is in the tree.
const (
	// ListEntries are the items of a list in a YAML or JSON file.
	ListEntries = "list"
	// LineEntries are the lines of a text file.
	LineEntries = "lines"
	// FileEntries are the files themselves.
	FileEntries = "files"
)

// Log is one stanza of logs: files that only grow.
type Log struct {
	// Path is a glob pattern for paths from the repository's root; Exclude are patterns of paths that it does not cover.
	Path    string   `json:"path"`
	Exclude []string `json:"exclude"`
	// Entries is the kind.
	Entries string `json:"entries"`
	// At is the dotted key path of the list; empty for the document itself.
	At string `json:"at"`
	// Merge is "ordered", the default, or "union".
	Merge string `json:"merge"`
	// Order is "name" if a new file has to sort after all existing ones in its folder.
	Order string `json:"order"`
	// EOL is "any" if line ends of files do not count.
	EOL string `json:"eol"`
	// Since is the full id of a commit: what it and its ancestors did is accepted. Empty for none.
	Since string `json:"since"`
	// Secrets has new entries searched for credentials.
	Secrets bool `json:"secrets"`
	// Pos is where the stanza is in the configuration.
	Pos small.Pos `json:"-"`
}

// Union reports whether entries of two sides may be mixed in a commit with one parent: git's own merge=union writes such logs.
func (l *Log) Union() bool { return l != nil && l.Merge == "union" }

// ByName reports whether a new file has to sort after all existing ones in its folder.
func (l *Log) ByName() bool { return l != nil && l.Order == "name" }

// Format is what reading a file of the log depends on: logs of one format may be continued in each other's place.
func (l *Log) Format() string { return l.Entries + " " + l.EOL + " " + l.At }

// LogFor is the stanza of the log to which a path belongs: the first that matches. The protocol's own logs have none.
func (p *Policy) LogFor(path string) *Log {
	if len(p.Logs) == 0 {
		return nil
	}
	if _, name, ok := small.SplitPath(path); ok && name == small.Progress.FileName() {
		return nil
	}
	for i := range p.Logs {
		if l := &p.Logs[i]; Matches([]string{l.Path}, path) && !Matches(l.Exclude, path) {
			return l
		}
	}
	return nil
}

// Watched are the patterns of all files besides workspaces that are judged, without regard to what stanzas exclude.
func (p *Policy) Watched() []string {
	var out []string
	for _, w := range p.Watchers() {
		out = append(out, w.Watched()...)
	}
	for i := range p.Logs {
		out = append(out, p.Logs[i].Path)
	}
	return out
}

// logs completes the stanzas of logs, and judges what no schema can.
func (r *reader) logs(logs []Log, list *small.Value) {
	for i := range min(len(logs), len(list.Items)) { // the schema has reported what is not a stanza
		l, item, subject := &logs[i], list.Items[i], fmt.Sprintf("logs.%d", i)
		l.Pos = item.Pos
		if path := item.Get("path"); path != nil {
			r.patterns(&small.Value{Kind: small.List, Items: []*small.Value{path}}, subject+".path", FilePattern)
		}
		r.patterns(item.Get("exclude"), subject+".exclude", FilePattern)
		for _, only := range []struct {
			key   string
			kinds []string
		}{
			{"at", []string{ListEntries}}, {"merge", []string{ListEntries, LineEntries}}, {"order", []string{FileEntries}},
			{"eol", []string{FileEntries}}, {"secrets", []string{ListEntries, LineEntries}},
		} {
			if v := item.Get(only.key); v != nil && l.Entries != "" && !slices.Contains(only.kinds, l.Entries) {
				r.report(Problem{
					Pos: v.Pos, Subject: subject + "." + only.key,
					Message: fmt.Sprintf("%q is for entries: %s, not for entries: %s", only.key, strings.Join(only.kinds, " or "), l.Entries),
					Hint:    "remove the key",
				})
			}
		}
		if slices.Contains(strings.Split(l.At, "."), "") && l.At != "" {
			r.fail(item.Get("at").Pos, subject+".at", "%q is no path of keys; write keys with a dot between them", wording.Clip(l.At))
		}
	}
}

// isLog reports whether a path belongs to a log of some stanzas.
func isLog(logs []Log, path string) bool {
	return slices.ContainsFunc(logs, func(l Log) bool {
		return doublestar.ValidatePattern(l.Path) && Matches([]string{l.Path}, path)
	})
}
