package policy

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/schema"
)

// The kinds of logs: how entries are read from what is in the tree.
const (
	// ListEntries are the items of a list in a YAML or JSON file.
	ListEntries = "list"
	// LineEntries are the lines of a text file.
	LineEntries = "lines"
	// BlockEntries are runs of lines, each from a line that matches the stanza's start.
	BlockEntries = "blocks"
	// FileEntries are the files themselves.
	FileEntries = "files"
)

// The orders: where a new entry stands. Without one it comes last, or anywhere in a folder of files.
const (
	Appended    = "appended"
	NewestFirst = "newest-first"
	Free        = "free"
	ByName      = "name"
	ByNumber    = "number"
)

// Merged is the value of frozen for entries that a branch may change until its target has them; [Committed] is the other one.
const Merged = "merged"

// JSONValues is the value of schema that asks for one JSON value a line.
const JSONValues = "json"

// OpenNewest is the value of open for a log whose newest entry is not finished.
const OpenNewest = "newest"

// Identity says what is compared of an entry: all of it if it is empty.
type Identity struct {
	Without      []string `json:"without"`
	Only         []string `json:"only"`
	WithoutLines string   `json:"without_lines"`
}

// UnmarshalJSON also reads "whole". The schema reports any other text.
func (i *Identity) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return nil
	}
	type plain Identity
	return json.Unmarshal(text, (*plain)(i))
}

// Log is one stanza of logs: files that only grow.
type Log struct {
	// Path is a glob pattern for paths from the repository's root; Exclude are patterns of paths that it does not cover.
	Path    string   `json:"path"`
	Exclude []string `json:"exclude"`
	// Entries is the kind.
	Entries string `json:"entries"`
	// At is the dotted key path of the list; empty for the document itself.
	At string `json:"at"`
	// Start is the regular expression of a block's first line.
	Start    string   `json:"start"`
	Identity Identity `json:"identity"`
	// Order is one of the orders above, or empty.
	Order string `json:"order"`
	// Frozen is Committed or Merged; empty means Merged for files, and else Committed.
	Frozen string `json:"frozen"`
	// Open is "newest", or a regular expression that matches a line of an entry that is not finished. Empty if every entry is finished.
	Open string `json:"open"`
	// Schema is "json" if each new line has to be a JSON value, or the path of the JSON Schema for new entries; empty if any will do.
	Schema string `json:"schema"`
	// Since is the full id of a commit: what it and its ancestors did is accepted. Empty for none.
	Since string `json:"since"`
	// Pos is where the stanza is in the configuration.
	Pos   small.Pos `json:"-"`
	form  ledger.Form
	given *schema.Given
	// elsewhere is true if the schema is not a file of the repository.
	elsewhere bool
}

// SchemaFiles is where the schemas that stanzas name are read: on the trusted side, as the configuration itself.
type SchemaFiles struct {
	// Read reads a file by its path; it may return an error, or one byte more, for a file of more than [schema.MaxGiven] bytes.
	Read func(path string) (data []byte, found bool, err error)
	// OutsideRepo is true if that is not the repository.
	OutsideRepo bool
}

// SchemaFile is the path of the stanza's schema; empty if it has none, or if new lines only have to be JSON.
func (l *Log) SchemaFile() string {
	if l.Schema == JSONValues {
		return ""
	}
	return l.Schema
}

// Given is the schema that SchemaFile names; nil if the configuration was read without its schemas.
func (l *Log) Given() *schema.Given { return l.given }

// Configures reports whether a path of the repository is that of the configuration, or of a schema that it names.
func (p *Policy) Configures(path string) bool {
	return path == File || slices.ContainsFunc(p.Logs, func(l Log) bool { return !l.elsewhere && l.SchemaFile() == path })
}

// SchemaDigests are the digests of the schemas that were read, in the order of the stanzas.
func (p *Policy) SchemaDigests() (out []small.Digest) {
	for i := range p.Logs {
		if g := p.Logs[i].given; g != nil {
			out = append(out, g.Digest)
		}
	}
	return out
}

// Form is how the log's entries are read.
func (l *Log) Form() *ledger.Form { return &l.form }

// Free reports whether a new entry may stand anywhere, so that entries have no order.
func (l *Log) Free() bool { return l != nil && l.Order == Free }

// Unordered reports whether the ledger head is that of a set: new entries may stand anywhere, or where their names say.
func (l *Log) Unordered() bool {
	return l.Free() || l.Sorted() || l != nil && l.Order == "" && l.Entries == FileEntries
}

// Head is the ledger head of a log of the stanza, or of one without a stanza: that of a set if entries have no order.
func (l *Log) Head(of *ledger.Ledger) small.Digest {
	if l.Unordered() {
		return of.SetHead()
	}
	return of.Head()
}

// Sorted reports whether a new file has to sort after all existing ones in its folder, by name or by number.
func (l *Log) Sorted() bool { return l != nil && (l.Order == ByName || l.Order == ByNumber) }

// FrozenOnceMerged reports whether a branch may still change an entry until the branch's target has it.
func (l *Log) FrozenOnceMerged() bool {
	return l != nil && (l.Frozen == Merged || l.Frozen == "" && l.Entries == FileEntries)
}

// JudgedByStep reports whether something about the log is judged by steps and not commit by commit: which entries it keeps, or their order.
func (l *Log) JudgedByStep() bool { return l.FrozenOnceMerged() || l.Sorted() }

// Format is what reading a file of the log depends on: logs of one format may be continued in each other's place.
func (l *Log) Format() string {
	return fmt.Sprintf("%q", []any{l.Entries, l.At, l.Start, l.Identity.Without, l.Identity.Only, l.Identity.WithoutLines, l.Order, l.FrozenOnceMerged(), l.Open})
}

// JudgesLike reports whether another stanza, nil for none, judges a log's entries as this one does.
func (l *Log) JudgesLike(other *Log) bool {
	return other != nil && l.Format() == other.Format() && l.Since == other.Since && l.Schema == other.Schema && l.schemaDigest() == other.schemaDigest()
}

// schemaDigest is the digest of the stanza's schema; zero for none.
func (l *Log) schemaDigest() (d small.Digest) {
	if l.given != nil {
		d = l.given.Digest
	}
	return d
}

// SameLogs reports whether another policy has the same stanzas of logs.
func (p *Policy) SameLogs(other *Policy) bool {
	return slices.EqualFunc(p.Logs, other.Logs, func(a, b Log) bool {
		return a.Path == b.Path && slices.Equal(a.Exclude, b.Exclude) && a.JudgesLike(&b)
	})
}

// WithLogsOf is the policy with another one's stanzas for logs of which it has none.
func (p *Policy) WithLogsOf(other *Policy) *Policy {
	out := *p
	for _, l := range other.Logs {
		if !slices.ContainsFunc(p.Logs, func(own Log) bool { return own.Path == l.Path && slices.Equal(own.Exclude, l.Exclude) }) {
			out.Logs = append(slices.Clip(out.Logs), l)
		}
	}
	return &out
}

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

// Watched are the patterns of all files besides workspaces that are judged, without regard to what stanzas exclude, and of the schemas.
func (p *Policy) Watched() []string {
	var out []string
	for _, w := range p.Watchers() {
		out = append(out, w.Watched()...)
	}
	for i := range p.Logs {
		l := &p.Logs[i]
		if out = append(out, l.Path); l.SchemaFile() != "" && !l.elsewhere {
			out = append(out, LiteralPattern(l.Schema))
		}
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
		r.kindKeys(l, item, subject)
		r.form(l, item, subject)
		if l.SchemaFile() != "" {
			r.schema(l, item.Get("schema"), subject+".schema")
		}
		if slices.Contains(strings.Split(l.At, "."), "") && l.At != "" {
			r.fail(item.Get("at").Pos, subject+".at", "%q is no path of keys; write keys with a dot between them", wording.Clip(l.At))
		}
	}
}

// kindKeys refuses keys, and values of keys, that do not fit the kind of the stanza's entries.
func (r *reader) kindKeys(l *Log, item *small.Value, subject string) {
	if l.Entries == "" {
		return // the schema has reported it
	}
	sequences := []string{LineEntries, BlockEntries, ListEntries}
	for _, only := range []struct {
		key, value string
		kinds      []string
	}{
		{"at", "", []string{ListEntries}}, {"schema", "", []string{LineEntries, ListEntries}}, {"schema", JSONValues, []string{LineEntries}}, {"start", "", []string{BlockEntries}}, {"open", OpenNewest, sequences},
		{"order", Appended, sequences}, {"order", NewestFirst, sequences}, {"order", ByName, []string{FileEntries}}, {"order", ByNumber, []string{FileEntries}},
		{"identity.without", "", []string{LineEntries, ListEntries}}, {"identity.only", "", []string{LineEntries, ListEntries}},
		{"identity.without_lines", "", []string{BlockEntries, FileEntries}},
	} {
		v := item
		for key := range strings.SplitSeq(only.key, ".") {
			if v = v.Get(key); v == nil {
				break
			}
		}
		if v == nil || only.value != "" && v.Text != only.value || slices.Contains(only.kinds, l.Entries) {
			continue
		}
		what := strconv.Quote(only.key)
		if only.value != "" {
			what = only.key + ": " + only.value
		}
		r.report(Problem{
			Pos: v.Pos, Subject: subject + "." + only.key,
			Message: fmt.Sprintf("%s is for entries: %s, not for entries: %s", what, strings.Join(only.kinds, " or "), l.Entries),
			Hint:    "remove the key",
		})
	}
	if v := item.Get("identity"); v != nil && v.Kind == small.Map && len(v.Fields) != 1 {
		r.report(Problem{Pos: v.Pos, Subject: subject + ".identity", Message: "an identity has one key: without, only or without_lines", Hint: "choose one"})
	}
	if l.Entries == BlockEntries && l.Start == "" {
		r.report(Problem{Pos: item.Pos, Subject: subject, Message: `entries: blocks needs "start", a regular expression for the first line of a block`, Hint: `for Markdown headings: start: "^## "`})
	}
}

// schema reads the schema that a stanza names.
func (r *reader) schema(l *Log, v *small.Value, subject string) {
	if !fs.ValidPath(l.Schema) || strings.Contains(l.Schema, `\`) {
		r.report(Problem{Pos: v.Pos, Subject: subject, Message: fmt.Sprintf("%q is no path of a file in the repository", wording.Clip(l.Schema)), Hint: "write the path from the root, with /; or json, if one JSON value a line is enough"})
	}
	if r.schemas == nil || len(r.problems) > 0 {
		return // what is wrong with the configuration itself comes first
	}
	l.elsewhere = r.schemas.OutsideRepo
	if l.given = r.given[l.Schema]; l.given != nil {
		return
	}
	data, found, err := r.schemas.Read(l.Schema)
	switch {
	case err != nil:
		r.cause = err
		f := failure.Of(err)
		r.report(Problem{Pos: v.Pos, Subject: subject, Message: fmt.Sprintf("the schema %q cannot be read: %s", l.Schema, f.Message), Hint: f.Remedy})
		return
	case !found:
		r.report(Problem{Pos: v.Pos, Subject: subject, Message: fmt.Sprintf("there is no schema %q beside this configuration", l.Schema), Hint: "add the file, or remove the key"})
		return
	}
	given, problem := schema.ReadGiven(data)
	if problem != nil {
		r.report(Problem{Pos: v.Pos, Subject: subject, Message: fmt.Sprintf("the schema %q cannot be used: its line %d: %s", l.Schema, problem.Pos.Line, problem.Message), Hint: problem.Hint})
		return
	}
	if r.given == nil {
		r.given = map[string]*schema.Given{}
	}
	l.given, r.given[l.Schema] = given, given
}

// maxExpression bounds the size of a regular expression, in bytes.
const maxExpression = 1000

// form compiles the stanza's regular expressions.
func (r *reader) form(l *Log, item *small.Value, subject string) {
	compile := func(text, key string, v *small.Value) *regexp.Regexp {
		if text == "" || v == nil {
			return nil
		}
		if len(text) > maxExpression {
			r.fail(v.Pos, subject+"."+key, "the regular expression has %d bytes; at most %d are read", len(text), maxExpression)
			return nil
		}
		out, err := regexp.Compile(text)
		if err != nil {
			r.report(Problem{Pos: v.Pos, Subject: subject + "." + key, Message: fmt.Sprintf("%q is no regular expression: %v", key, err), Hint: "the syntax is that of RE2"})
		}
		return out
	}
	l.form = ledger.Form{
		Start: compile(l.Start, "start", item.Get("start")), Without: l.Identity.Without, Only: l.Identity.Only,
		NewestFirst: l.Order == NewestFirst, OpenNewest: l.Open == OpenNewest, Cache: new(ledger.IdentityCache),
	}
	if identity := item.Get("identity"); identity != nil {
		l.form.WithoutLines = compile(l.Identity.WithoutLines, "identity.without_lines", identity.Get("without_lines"))
	}
	if !l.form.OpenNewest {
		l.form.Open = compile(l.Open, "open", item.Get("open"))
	}
}

// isLog reports whether a path belongs to a log of some stanzas.
func isLog(logs []Log, path string) bool {
	return slices.ContainsFunc(logs, func(l Log) bool {
		return doublestar.ValidatePattern(l.Path) && Matches([]string{l.Path}, path)
	})
}
