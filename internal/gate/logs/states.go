package logs

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// NoteChanged puts into the report the state at the tip of each configured log that changed.
func NoteChanged(ctx context.Context, r *run.Run) error {
	if len(r.Learned.Logs) == 0 {
		return nil
	}
	before := r.Scope.Before()
	if r.Scope.Whole {
		return noteLogs(ctx, r, func(at string) bool { return r.Learned.Logs[at] }, nil)
	}
	return noteLogs(ctx, r, func(at string) bool { return r.Learned.Logs[at] }, &before)
}

// NoteAll puts into the report the state of each configured log in or below the scope's directory. In a part of a tree it judges none, since the
// stanzas' paths begin at the root, and says so.
func NoteAll(ctx context.Context, r *run.Run) error {
	if r.Options.PartOfTree {
		if len(r.Source.Policy.Logs) > 0 {
			r.Examined().Notes = append(r.Examined().Notes, "the logs that the configuration names were not judged: `small-hook check --dir :/` judges them")
		}
		return nil
	}
	return noteLogs(ctx, r, func(at string) bool { return r.Scope.Dir == "" || strings.HasPrefix(at+"/", r.Scope.Dir+"/") }, nil)
}

// noteLogs puts the state of the selected logs at the tip into the report, one for each file or folder of files. Without a history, it also
// reports logs that cannot be read. before, if not nil, is the revision before the change: notes name the open entries that were not in it.
func noteLogs(ctx context.Context, r *run.Run, selected func(at string) bool, before *string) error {
	p := r.Source.Policy
	if len(p.Logs) == 0 {
		return nil
	}
	files, err := r.Source.Tree.List(ctx, r.Scope.Tip.ID, history.Matching(p.Watched()...))
	if err != nil {
		return err
	}
	folders := map[read.FolderLog]*folderState{}
	stanzas := map[string]int{} // the number of stanzas with files in a folder
	for _, f := range files {
		if p.LogFor(f.Path) == nil || !selected(r.Source.LogName(f.Path)) {
			continue
		}
		log, err := r.Source.ReaderOf(f.Path).Read(ctx, f, nil)
		var added []finding.OpenEntry
		if err == nil && before != nil {
			added, err = findAddedOpen(ctx, r, *before, f.Path, log)
		}
		switch {
		case err != nil:
			return err
		case log.Readable() && r.Source.IsFileEntry(f.Path):
			key := r.Source.FolderLogOf(f.Path)
			state := folders[key]
			if state == nil {
				state = new(folderState)
				folders[key] = state
				stanzas[key.Folder]++
			}
			state.entries = append(state.entries, log.Log.Entries...)
			state.open += log.Log.Open
			state.opened = append(state.opened, added...)
		case log.Readable():
			r.Account.Ledgers = append(r.Account.Ledgers, finding.LedgerState{
				Path: f.Path, Entries: log.Log.Len(), Open: log.Log.Open, Opened: added, Head: p.LogFor(f.Path).Head(log.Log.Ledger),
			})
		case r.Source.History == nil:
			if err := r.Collector.Judge(ctx, &UnreadableLog{
				Place: rule.Place{Commit: r.Scope.Tip.ID, Mandatory: true}, Run: r, Path: f.Path, Object: f.Object, Problems: log.Problems,
			}); err != nil {
				return err
			}
		}
	}
	for key, state := range folders {
		all, name := ledger.OfEntries(state.entries), key.Folder
		if stanzas[key.Folder] > 1 {
			name = path.Join(key.Folder, path.Base(key.Stanza.Path))
		}
		r.Account.Ledgers = append(r.Account.Ledgers, finding.LedgerState{Path: name, Entries: all.Len(), Open: state.open, Opened: state.opened, Head: all.SetHead()})
	}
	slices.SortFunc(r.Account.Ledgers, func(a, b finding.LedgerState) int { return strings.Compare(a.Path, b.Path) })
	for _, l := range r.Account.Ledgers {
		for i, e := range l.Opened {
			if i == maxOpenNamed {
				r.Examined().Notes = append(r.Examined().Notes, fmt.Sprintf("%s: this change adds %d more open entries", wording.Printable(l.Path), len(l.Opened)-i))
				break
			}
			r.Examined().Notes = append(r.Examined().Notes, fmt.Sprintf("%s:%d: this change adds an open entry, which may change until it is finished: %s", wording.Printable(e.Path), e.Line, e.Text))
		}
	}
	return nil
}

// folderState is what is known of such a log.
type folderState struct {
	entries []ledger.Entry
	open    int
	opened  []finding.OpenEntry
}

// maxOpenNamed is the largest number of open entries of a log that notes name.
const maxOpenNamed = 10

// findAddedOpen returns the open entries of a log that the log did not have at a revision. Entries with the same first line count as the same.
func findAddedOpen(ctx context.Context, r *run.Run, revision, at string, log *read.LedgerFile) (added []finding.OpenEntry, err error) {
	now, err := r.Source.ReaderOf(at).OpenEntries(ctx, log)
	if err != nil || len(now.Entries) == 0 {
		return nil, err
	}
	had := map[string]bool{}
	if revision != "" {
		log, err := r.Source.LogAt(ctx, revision, at)
		if err != nil {
			return nil, err
		}
		before, err := r.Source.ReaderOf(at).OpenEntries(ctx, log)
		if err != nil {
			return nil, err
		}
		for i := range before.Entries {
			had[titleOf(before.Entries[i], before.Values[i])] = true
		}
	}
	for i, e := range now.Entries {
		if title := titleOf(e, now.Values[i]); !had[title] {
			added = append(added, finding.OpenEntry{Path: at, Line: e.Pos.Line, Text: wording.Clip(wording.Printable(title))})
		}
	}
	slices.SortFunc(added, func(a, b finding.OpenEntry) int { return a.Line - b.Line })
	return added, nil
}

// titleOf returns the first line of an entry, or "the file" for a file, whose path says which it is.
func titleOf(e ledger.Entry, v *small.Value) string {
	if e.Noun == ledger.File {
		return "the file"
	}
	title, _, _ := strings.Cut(v.Display(), "\n")
	return title
}
