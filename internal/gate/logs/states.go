package logs

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
)

// NoteChanged notes, for the report, the configured logs that changed, as they are at the tip.
func NoteChanged(ctx context.Context, r *run.Run) error {
	if len(r.Learned.Logs) == 0 {
		return nil
	}
	return noteLogs(ctx, r, func(at string) bool { return r.Learned.Logs[at] })
}

// NoteAll notes all configured logs in or below the scope's directory.
func NoteAll(ctx context.Context, r *run.Run) error {
	return noteLogs(ctx, r, func(at string) bool { return r.Scope.Dir == "" || strings.HasPrefix(at+"/", r.Scope.Dir+"/") })
}

// noteLogs notes logs of the tip: each file, or each folder of files. If no commits are judged, it reports those that cannot be read.
func noteLogs(ctx context.Context, r *run.Run, wanted func(at string) bool) error {
	p := r.Source.Policy
	if len(p.Logs) == 0 {
		return nil
	}
	files, err := r.Source.Tree.List(ctx, r.Scope.Tip.ID, history.Matching(p.Watched()...))
	if err != nil {
		return err
	}
	folders, open := map[string][]ledger.Entry{}, map[string]int{}
	for _, f := range files {
		if p.LogFor(f.Path) == nil || !wanted(r.Source.LogOf(f.Path)) {
			continue
		}
		log, err := r.Source.Logs(f.Path).Read(ctx, f, nil)
		switch {
		case err != nil:
			return err
		case log.Readable() && r.Source.OfFile(f.Path):
			folder := path.Dir(f.Path)
			folders[folder] = append(folders[folder], log.Log.Entries...)
			open[folder] += log.Log.Open
		case log.Readable():
			r.Account.Ledgers = append(r.Account.Ledgers, finding.LedgerState{
				Path: f.Path, Entries: log.Log.Len(), Open: log.Log.Open, Head: p.LogFor(f.Path).Head(log.Log.Ledger),
			})
		case r.Source.History == nil:
			if err := r.Collector.Judge(ctx, &UnreadableLog{
				Place: rule.Place{Commit: r.Scope.Tip.ID, Mandatory: true}, Run: r, Path: f.Path, Object: f.Object, Problems: log.Problems,
			}); err != nil {
				return err
			}
		}
	}
	for folder, entries := range folders {
		all := ledger.OfEntries(entries)
		r.Account.Ledgers = append(r.Account.Ledgers, finding.LedgerState{Path: folder, Entries: all.Len(), Open: open[folder], Head: all.SetHead()})
	}
	slices.SortFunc(r.Account.Ledgers, func(a, b finding.LedgerState) int { return strings.Compare(a.Path, b.Path) })
	return nil
}
