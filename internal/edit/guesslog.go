package edit

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// reading is one way to read a file, or a folder of files, as a log.
type reading struct {
	log policy.Log
	// allows says in words how the stanza differs from the first reading's; empty for the first reading.
	allows string
	// reasons are sentences that say what was guessed, and why.
	reasons []string
}

// guess is the guessed kind of the log at a path.
type guess struct {
	// files are the paths of the log's files.
	files []string
	// reasons are those of the next reading that is added.
	reasons []string
	// readings begin with the one that suits the content best; the others are milder.
	readings []reading
}

// guessAt guesses the kind of the log at a path. files are the files at or below the path; there is at least one.
func guessAt(ctx context.Context, s *session.Session, at string, files []history.File) (guess, error) {
	read := func(f string) ([]byte, error) {
		data, _, err := githistory.ReadFile(ctx, s.Repo, history.Index, f, s.Opts.Limits().FileSize())
		return bytes.TrimPrefix(data, []byte("\ufeff")), err
	}
	if files[0].Path != at {
		return guessFolder(at, files, read, s.Opts.Limits())
	}
	if !files[0].Regular() {
		return guess{}, &failure.Error{Message: wording.Printable(at) + " is a symbolic link or a submodule, which is no log", Remedy: "name the file itself"}
	}
	data, err := read(at)
	if err != nil {
		return guess{}, err
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return guess{}, &failure.Error{
			Message: wording.Printable(at) + " is not UTF-8 text: it has a NUL byte, as the UTF-16 has that > and >> write in Windows PowerShell",
			Remedy:  "write it anew as UTF-8 and commit it, then again; in PowerShell, `Add-Content -Encoding utf8` appends a line",
		}
	}
	g := guess{files: []string{at}}
	base := policy.Log{Path: policy.LiteralPattern(at)}
	limits := s.Opts.Limits()
	switch ext := strings.ToLower(path.Ext(at)); {
	case slices.Contains([]string{".jsonl", ".ndjson", ".csv", ".tsv"}, ext):
		g.guessLines(base, data, limits)
	case slices.Contains([]string{".yml", ".yaml", ".json"}, ext):
		err = g.guessList(base, at, data, ext == ".json", limits)
	case slices.Contains([]string{".md", ".markdown", ""}, ext) || hasBlocks(data):
		err = g.guessBlocks(base, at, data)
	case ext == ".log" || ext == ".txt":
		g.guessLines(base, data, limits)
	default:
		err = &failure.Error{
			Message: "cannot guess from its name what an entry of " + wording.Printable(at) + " is",
			Remedy:  remedyByHand(policy.LiteralPattern(at), "entries: lines") + "; entries: blocks, list and files are the other kinds",
		}
	}
	return g, err
}

// remedyByHand tells the user to write a stanza for a pattern of paths. keys are the stanza's keys after path.
func remedyByHand(pattern, keys string) string {
	return fmt.Sprintf("write it into %s by hand, under logs: - {path: %s, %s}", policy.File, wording.Quote(pattern), keys)
}

// addReading adds a reading; its stanza is base after changes.
func (g *guess) addReading(base policy.Log, allows string, changes ...func(*policy.Log)) {
	for _, change := range changes {
		change(&base)
	}
	g.readings = append(g.readings, reading{base, allows, slices.Clone(g.reasons)})
}

// The changes that readings make to a stanza.
func setNewestFirst(l *policy.Log) { l.Order = policy.NewestFirst }
func setFreeOrder(l *policy.Log)   { l.Order = policy.Free }
func setOpenNewest(l *policy.Log)  { l.Open = policy.OpenNewest }
func setKey(key string) func(*policy.Log) {
	return func(l *policy.Log) { l.Identity = policy.Identity{Only: []string{key}} }
}

// guessLines takes each line as an entry.
func (g *guess) guessLines(base policy.Log, data []byte, limits small.Limits) {
	base.Entries = policy.LineEntries
	g.reasons = append(g.reasons, "each line is an entry")
	var records []*small.Value
	lines := 0
	for line := range strings.Lines(string(data)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		lines++
		if doc, problems := small.ParseJSON([]byte(line), limits); len(problems) == 0 {
			records = append(records, doc.Root)
		}
	}
	if len(records) < lines {
		records = nil
	}
	g.addSequence(base, lines, records)
}

// guessList takes each item of the only list of a document as an entry.
func (g *guess) guessList(base policy.Log, at string, data []byte, isJSON bool, limits small.Limits) (err error) {
	base.Entries = policy.ListEntries
	if base.At, err = findOnlyList(at, data, isJSON, limits); err != nil {
		return err
	}
	where := "the document's list"
	if base.At != "" {
		where = "the list at " + base.At
	}
	g.reasons = append(g.reasons, "each item of "+where+" is an entry")
	items, _ := small.ParseItems(data, isJSON, base.At, limits)
	g.addSequence(base, len(items), items)
	return nil
}

// addSequence adds readings for lines, or for the items of a list. entries is their number; records are their values, nil if they are unknown.
func (g *guess) addSequence(base policy.Log, entries int, records []*small.Value) {
	if chain := findChain(records); chain != nil {
		base.Identity.Without = chain
		g.reasons = append(g.reasons, fmt.Sprintf("%s form a chain, which each merge recomputes: they are not compared (identity: without)", wording.List(chain, "and")))
	}
	g.addReading(base, "")
	g.addReading(base, "new entries stand before older ones (order: newest-first)", setNewestFirst)
	if entries > 1 { // if the only entry may change, nothing is guarded
		g.addReading(base, "the last entry may change until another one follows (open: newest)", setOpenNewest)
	}
	key := findKey(records)
	if key != "" {
		g.addReading(base, "entries with the same "+key+" are one record, whose other fields may change (identity: only)", setKey(key))
	}
	g.addReading(base, "a new entry may stand anywhere (order: free)", setFreeOrder)
	if key != "" {
		g.addReading(base, "entries with the same "+key+" are one record, which may change and move (identity: only, order: free)", setKey(key), setFreeOrder)
	}
}

// findOnlyList returns the path, as keys joined by dots, to the only list of a document; empty if the document is a list.
func findOnlyList(at string, data []byte, isJSON bool, limits small.Limits) (keys string, err error) {
	if _, problems := small.ParseItems(data, isJSON, "", limits); problems == nil {
		return "", nil
	}
	parse := small.Parse
	if isJSON {
		parse = small.ParseJSON
	}
	doc, problems := parse(data, limits)
	if doc == nil {
		p := problems[0]
		return "", &failure.Error{Message: fmt.Sprintf("%s, line %d: %s", wording.Printable(at), max(p.Pos.Line, 1), p.Message), Remedy: "correct the file first"}
	}
	lists := listsBelow(doc.Root, "")
	if len(lists) == 1 {
		return lists[0], nil
	}
	const shown = 5
	words := "no list whose items could be entries"
	if len(lists) > 0 {
		words = fmt.Sprintf("%d lists (at %s)", len(lists), wording.List(lists[:min(len(lists), shown)], "and"))
	}
	return "", &failure.Error{Message: wording.Printable(at) + " has " + words, Remedy: remedyByHand(policy.LiteralPattern(at), "entries: list, at: KEY.OF.THE.LIST")}
}

// listsBelow returns the paths to the lists in a value, as keys joined by dots. It leaves out lists in lists and below keys that contain a dot.
func listsBelow(v *small.Value, prefix string) (out []string) {
	for _, f := range v.Members() {
		switch {
		case f.Key == "" || strings.Contains(f.Key, "."):
		case f.Value.Kind == small.List:
			out = append(out, prefix+f.Key)
		case f.Value.Kind == small.Map:
			out = append(out, listsBelow(f.Value, prefix+f.Key+".")...)
		}
	}
	return out
}

// keyNames are the names of fields that may identify a record, the likeliest first.
var keyNames = []string{"id", "_id", "uuid", "key", "slug", "name"}

// findKey returns the name of a field that has a different value in every record; empty if there is none, or fewer than two records.
func findKey(records []*small.Value) string {
	for _, name := range keyNames {
		values := map[string]bool{}
		for _, r := range records {
			if v := r.Get(name); v != nil && v.IsLeaf() && v.Kind != small.Null {
				values[v.Text] = true
			}
		}
		if len(records) > 1 && len(values) == len(records) {
			return name
		}
	}
	return ""
}

// shortestHash is the least length, in bytes, of a text that may be a link of a chain.
const shortestHash = 16

// findChain returns the names of two fields that chain the records: the first repeats what the record before has in the second. It returns nil
// if there are none.
func findChain(records []*small.Value) []string {
	if len(records) < 2 {
		return nil
	}
	for _, link := range records[1].Members() {
		for _, own := range records[0].Members() {
			if link.Key == own.Key {
				continue
			}
			links := 0
			for i, r := range records[1:] {
				to, isText := r.Get(link.Key).Str()
				from, _ := records[i].Get(own.Key).Str()
				if isText && len(to) >= shortestHash && to == from {
					links++
				}
			}
			if links == len(records)-1 {
				return []string{link.Key, own.Key}
			}
		}
	}
	return nil
}
