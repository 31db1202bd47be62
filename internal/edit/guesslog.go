package edit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// guessed is a guess about a log.
type guessed struct {
	log policy.Log
	// files are those that exist.
	files []string
	notes []string
}

// guess guesses the kind of the log at a path, at or below which files are.
func guess(ctx context.Context, s *session.Session, at string, files []history.File) (guessed, error) {
	if files[0].Path != at {
		return guessFolder(at, files), nil
	}
	if !files[0].Regular() {
		return guessed{}, &failure.Error{Message: wording.Printable(at) + " is a symbolic link or a submodule, which is no log", Remedy: "name the file itself"}
	}
	g := guessed{log: policy.Log{Path: policy.LiteralPattern(at)}, files: []string{at}}
	switch ext := strings.ToLower(path.Ext(at)); ext {
	case ".jsonl", ".ndjson", ".log", ".csv":
		g.log.Entries = policy.LineEntries
		return g, nil
	case ".yml", ".yaml", ".json":
		data, _, err := githistory.ReadFile(ctx, s.Repo, history.Index, at, s.Opts.Limits().FileSize())
		if err != nil {
			return g, err
		}
		g.log.Entries = policy.ListEntries
		g.log.At, err = listIn(at, data, ext == ".json", s.Opts.Limits())
		return g, err
	}
	return g, &failure.Error{
		Message: "cannot guess from its name what an entry of " + wording.Printable(at) + " is",
		Remedy:  byHand(at, "lines") + "; entries: list and entries: files are the other kinds",
	}
}

// byHand is the failure that shows which stanza to write.
func byHand(at, entries string) string {
	return fmt.Sprintf("write it into %s by hand, under logs: - {path: %s, entries: %s}", policy.File, wording.Quote(policy.LiteralPattern(at)), entries)
}

// listIn finds the only list of a document.
func listIn(at string, data []byte, isJSON bool, limits small.Limits) (keys string, err error) {
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
	words := "no list of which an item could be an entry"
	if len(lists) > 0 {
		words = fmt.Sprintf("%d lists (at %s)", len(lists), wording.List(lists[:min(len(lists), shown)], "and"))
	}
	return "", &failure.Error{Message: wording.Printable(at) + " has " + words, Remedy: byHand(at, "list, at: KEY.OF.THE.LIST")}
}

// listsBelow are the paths to lists, as keys joined by dots.
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

// numbered matches names that begin with a number, as those of migrations do.
var numbered = expression.Of(`^[A-Za-z]?[0-9]`)

// guessFolder takes the files of a folder as entries: those with the most common ending if most have it, else all.
func guessFolder(at string, files []history.File) guessed {
	endings := map[string]int{}
	for _, f := range files {
		endings[path.Ext(f.Path)]++
	}
	ending := slices.MaxFunc(slices.Sorted(maps.Keys(endings)), func(a, b string) int { return cmp.Compare(endings[a], endings[b]) })
	if endings[ending]*2 <= len(files) {
		ending = ""
	}
	g := guessed{log: policy.Log{Entries: policy.FileEntries, Order: policy.ByName}}
	below := "/*"
	for _, f := range files {
		if ending != "" && path.Ext(f.Path) != ending {
			continue
		}
		g.files = append(g.files, f.Path)
		if path.Dir(f.Path) != at {
			below = "/**/*"
		}
		if !numbered().MatchString(path.Base(f.Path)) {
			g.log.Order = ""
		}
	}
	g.log.Path = policy.LiteralPattern(at) + below + policy.LiteralPattern(ending)
	if others := len(files) - len(g.files); others > 0 {
		g.notes = []string{fmt.Sprintf("%s with another ending there: not guarded", wording.Count(others, "file"))}
	}
	return g
}
