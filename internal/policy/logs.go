package policy

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
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

// The kinds of logs: what an entry is.
const (
	// ListEntries are the items of a list in a YAML or JSON file.
	ListEntries = "list"
	// LineEntries are the lines of a text file.
	LineEntries = "lines"
	// BlockEntries are blocks of lines. A block begins at each line that matches the stanza's start.
	BlockEntries = "blocks"
	// FileEntries are whole files.
	FileEntries = "files"
)

// The orders: where a new entry stands. Without an order it comes last; in a log of files it stands anywhere.
const (
	Appended    = "appended"
	NewestFirst = "newest-first"
	Free        = "free"
	ByName      = "name"
	ByNumber    = "number"
)

// Merged is the value of frozen for entries that a branch may change until its target has them. The other value is [Committed].
const Merged = "merged"

// JSONValues is the value of schema that requires one JSON value in each line.
const JSONValues = "json"

// OpenNewest is the value of open for a log whose newest entry is not finished.
const OpenNewest = "newest"

// Identity says which part of an entry is compared. If it is empty, the whole entry is.
type Identity struct {
	// Without are fields that are not compared. If Only is not empty, no other fields are compared.
	Without []string `json:"without"`
	Only    []string `json:"only"`
	// WithoutLines is a regular expression for lines that are not compared.
	WithoutLines string `json:"without_lines"`
}

// UnmarshalJSON also accepts the string "whole". The schema has refused any other string.
func (i *Identity) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return nil
	}
	type plain Identity
	return json.Unmarshal(text, (*plain)(i))
}

// Log is one stanza of logs: it describes files that only grow.
type Log struct {
	// Path is a glob pattern for paths from the repository's root. Exclude are patterns for paths that the stanza does not cover.
	Path    string   `json:"path"`
	Exclude []string `json:"exclude"`
	// Entries is the kind of the log, such as ListEntries.
	Entries string `json:"entries"`
	// At is the dotted path of the list; empty if the document is the list.
	At string `json:"at"`
	// Start is a regular expression for a block's first line.
	Start    string   `json:"start"`
	Identity Identity `json:"identity"`
	// Order is one of the orders above, or empty.
	Order string `json:"order"`
	// Frozen is Committed or Merged. Empty means Merged in a log of files, otherwise Committed.
	Frozen string `json:"frozen"`
	// Open is OpenNewest, or a regular expression: an entry is not finished if a line of it matches. Empty if every entry is finished.
	Open string `json:"open"`
	// Schema is JSONValues, or the path of the JSON Schema for new entries. Empty if new entries have no schema.
	Schema string `json:"schema"`
	// Since is the full id of a commit: changes in it and its ancestors are accepted. Empty for none.
	Since string `json:"since"`
	// Pos is where the stanza is in the configuration.
	Pos  small.Pos `json:"-"`
	form ledger.Form
	// given is the schema that SchemaFile names, as it was read.
	given *schema.Given
	// schemaOutsideRepo is true if the schema is not a file of the repository.
	schemaOutsideRepo bool
}

// SchemaFiles is where the schemas that stanzas name are read: in the same trusted place as the configuration.
type SchemaFiles struct {
	// Read returns a file's content by its path. Of a file with more than [schema.MaxGiven] bytes it may return the first MaxGiven+1 bytes, or an
	// error.
	Read func(path string) (data []byte, found bool, err error)
	// OutsideRepo is true if the files are not those of the repository.
	OutsideRepo bool
}

// SchemaFile returns the path of the stanza's schema; empty if it has none, or if new lines only have to be JSON.
func (l *Log) SchemaFile() string {
	if l.Schema == JSONValues {
		return ""
	}
	return l.Schema
}

// Given returns the schema that SchemaFile names; nil if the configuration was read without its schemas.
func (l *Log) Given() *schema.Given { return l.given }

// Configures reports whether a path in the repository is that of the configuration, or of a schema that the configuration names.
func (p *Policy) Configures(path string) bool {
	return path == File || slices.ContainsFunc(p.Logs, func(l Log) bool { return !l.schemaOutsideRepo && l.SchemaFile() == path })
}

// SchemaDigests returns the digests of the schemas that were read, in the order of the stanzas.
func (p *Policy) SchemaDigests() (out []small.Digest) {
	for i := range p.Logs {
		if g := p.Logs[i].given; g != nil {
			out = append(out, g.Digest)
		}
	}
	return out
}

// Form returns how the log's entries are read and compared.
func (l *Log) Form() *ledger.Form { return &l.form }

// Free reports whether the stanza's order is free: a new entry may stand anywhere.
func (l *Log) Free() bool { return l != nil && l.Order == Free }

// Unordered reports whether the ledger's head does not depend on the order of the entries: a new entry may stand anywhere, or where its file's
// name says.
func (l *Log) Unordered() bool {
	return l.Free() || l.Sorted() || l != nil && l.Order == "" && l.Entries == FileEntries
}

// Head returns the head of a log's ledger: that of a set if the log is unordered. l is the log's stanza, nil if it has none.
func (l *Log) Head(of *ledger.Ledger) small.Digest {
	if l.Unordered() {
		return of.SetHead()
	}
	return of.Head()
}

// Sorted reports whether a new file must come after all existing files of its folder, by name or by number.
func (l *Log) Sorted() bool { return l != nil && (l.Order == ByName || l.Order == ByNumber) }

// FrozenOnceMerged reports whether a branch may change an entry until the branch's target has it.
func (l *Log) FrozenOnceMerged() bool {
	return l != nil && (l.Frozen == Merged || l.Frozen == "" && l.Entries == FileEntries)
}

// JudgedByStep reports whether the log's entries or their order are judged step by step and not commit by commit.
func (l *Log) JudgedByStep() bool { return l.FrozenOnceMerged() || l.Sorted() }

// Format returns a text of everything that reading and comparing the log's entries depends on. A log may continue in the place of another log
// only if the two have the same format.
func (l *Log) Format() string {
	return fmt.Sprintf("%q", []any{l.Entries, l.At, l.Start, l.Identity.Without, l.Identity.Only, l.Identity.WithoutLines, l.Order, l.FrozenOnceMerged(), l.Open})
}

// JudgesLike reports whether another stanza judges a log's entries as this one does. other is nil if there is none.
func (l *Log) JudgesLike(other *Log) bool {
	return other != nil && l.Format() == other.Format() && l.Since == other.Since && l.Schema == other.Schema && l.schemaDigest() == other.schemaDigest()
}

// schemaDigest returns the digest of the stanza's schema; zero if none was read.
func (l *Log) schemaDigest() (d small.Digest) {
	if l.given != nil {
		d = l.given.Digest
	}
	return d
}

// SameLogs reports whether another policy's stanzas of logs judge the same files in the same way.
func (p *Policy) SameLogs(other *Policy) bool {
	return slices.EqualFunc(p.Logs, other.Logs, func(a, b Log) bool {
		return a.Names(b) && a.JudgesLike(&b)
	})
}

// Names reports whether another stanza names the same files: it has the same path and exclude.
func (l Log) Names(other Log) bool {
	return l.Path == other.Path && slices.Equal(l.Exclude, other.Exclude)
}

// WithLogsOf returns the policy with those stanzas of another one whose path and exclude no stanza of the policy has.
func (p *Policy) WithLogsOf(other *Policy) *Policy {
	out := *p
	for _, l := range other.Logs {
		if !slices.ContainsFunc(p.Logs, l.Names) {
			out.Logs = append(slices.Clip(out.Logs), l)
		}
	}
	return &out
}

// LogFor returns the first stanza that matches a path; nil if none does. The protocol's own logs have no stanza.
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

// Watched returns the patterns of all judged files outside workspaces, and of the repository's schemas. It ignores what stanzas exclude.
func (p *Policy) Watched() []string {
	var out []string
	for _, w := range p.Watchers() {
		out = append(out, w.Watched()...)
	}
	for i := range p.Logs {
		l := &p.Logs[i]
		if out = append(out, l.Path); l.SchemaFile() != "" && !l.schemaOutsideRepo {
			out = append(out, LiteralPattern(l.Schema))
		}
	}
	return out
}

// completeLogs sets the fields of stanzas that JSON cannot set, and checks what no schema can.
func (r *reader) completeLogs(logs []Log, list *small.Value) {
	for i := range min(len(logs), len(list.Items)) { // the lengths differ if the schema has reported a problem
		l, item, subject := &logs[i], list.Items[i], fmt.Sprintf("logs.%d", i)
		l.Pos = item.Pos
		if path := item.Get("path"); path != nil {
			r.readPatterns(&small.Value{Kind: small.List, Items: []*small.Value{path}}, subject+".path", FilePattern)
		}
		r.readPatterns(item.Get("exclude"), subject+".exclude", FilePattern)
		r.checkKindKeys(l, item, subject)
		r.compileForm(l, item, subject)
		// JSON takes a key such as At for at, which the schema refuses: a field may be set although the item lacks the key.
		if schema := item.Get("schema"); schema != nil && l.SchemaFile() != "" {
			r.readSchema(l, schema, subject+".schema")
		}
		if at := item.Get("at"); at != nil && l.At != "" && slices.Contains(strings.Split(l.At, "."), "") {
			r.fail(at.Pos, subject+".at", "%q is not a path of keys; write keys with a dot between them", wording.Clip(l.At))
		}
	}
}

// checkKindKeys refuses keys and values that belong to other kinds of logs, an identity that has not exactly one key, and blocks without a start.
func (r *reader) checkKindKeys(l *Log, item *small.Value, subject string) {
	if l.Entries == "" {
		return // the schema has reported it
	}
	sequences := []string{LineEntries, BlockEntries, ListEntries}
	for _, only := range []struct {
		key, value string // an empty value stands for every value
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
		setting := strconv.Quote(only.key)
		if only.value != "" {
			setting = only.key + ": " + only.value
		}
		r.report(Problem{
			Pos: v.Pos, Subject: subject + "." + only.key,
			Message: fmt.Sprintf("%s is for entries: %s, not for entries: %s", setting, strings.Join(only.kinds, " or "), l.Entries),
			Hint:    "remove the key",
		})
	}
	if v := item.Get("identity"); v != nil && v.Kind == small.Map && len(v.Fields) != 1 {
		r.report(Problem{Pos: v.Pos, Subject: subject + ".identity", Message: `"identity" has exactly one key: without, only or without_lines`, Hint: "choose one"})
	}
	if l.Entries == BlockEntries && l.Start == "" {
		r.report(Problem{Pos: item.Pos, Subject: subject, Message: `entries: blocks needs "start", a regular expression for the first line of a block`, Hint: `for Markdown headings: start: "^## "`})
	}
}

// readSchema reads the schema file that a stanza names. v is the value of the key schema.
func (r *reader) readSchema(l *Log, v *small.Value, subject string) {
	if !fs.ValidPath(l.Schema) || strings.Contains(l.Schema, `\`) {
		r.report(Problem{Pos: v.Pos, Subject: subject, Message: fmt.Sprintf("%q is not the path of a file in the repository", wording.Clip(l.Schema)), Hint: "write the path from the root, with /; or json to require one JSON value in each line"})
	}
	if r.schemas == nil || len(r.problems) > 0 {
		return // problems of the configuration itself come first
	}
	l.schemaOutsideRepo = r.schemas.OutsideRepo
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

// maxExpression is the size in bytes of the longest regular expression that is compiled.
const maxExpression = 1000

// compileForm sets the stanza's form, and compiles its regular expressions.
func (r *reader) compileForm(l *Log, item *small.Value, subject string) {
	compile := func(text, key string, v *small.Value) *regexp.Regexp {
		if text == "" || v == nil {
			return nil
		}
		if len(text) > maxExpression {
			r.fail(v.Pos, subject+"."+key, "the regular expression has %d bytes; the limit is %d", len(text), maxExpression)
			return nil
		}
		out, err := regexp.Compile(text)
		if err != nil {
			r.report(Problem{Pos: v.Pos, Subject: subject + "." + key, Message: fmt.Sprintf("%q is not a regular expression: %v", key, err), Hint: "the syntax is that of RE2"})
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

// NamesFolder reports whether a name is that of the log that the stanza has in a folder: the folder, or the folder with the last element of the
// stanza's pattern.
func (l *Log) NamesFolder(name, folder string) bool {
	return l.Entries == FileEntries && (name == folder || name == path.Join(folder, path.Base(l.Path)))
}

// namesAnyFolder reports whether a name may be that of a folder of files with a stanza. Each may be, if a pattern's last slash is in braces.
func namesAnyFolder(logs []Log, name string) bool {
	return slices.ContainsFunc(logs, func(l Log) bool {
		if l.Entries != FileEntries || !doublestar.ValidatePattern(l.Path) {
			return false
		}
		folders, last := path.Split(l.Path)
		if folders = path.Clean(folders); last == "**" {
			folders = l.Path
		}
		if !doublestar.ValidatePattern(folders) {
			return true
		}
		return Matches([]string{folders}, name) || path.Base(name) == last && Matches([]string{folders}, path.Dir(name))
	})
}

// matchesAnyLog reports whether the pattern of at least one stanza matches a path. It ignores what stanzas exclude.
func matchesAnyLog(logs []Log, path string) bool {
	return slices.ContainsFunc(logs, func(l Log) bool {
		return doublestar.ValidatePattern(l.Path) && Matches([]string{l.Path}, path)
	})
}
