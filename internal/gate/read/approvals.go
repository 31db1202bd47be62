package read

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
)

// Approve completes the approvals of rewrites that may matter to two versions of a log: an approval names two ledger heads, and the entries of
// one that neither version begins with are found among the ancestors of some commits. older says whether the earlier version may be from
// before what a rewrite started from.
func (src *Source) Approve(ctx context.Context, equal ledger.Equivalence, tips []string, path string, before, after *LedgerFile, older bool) (ledger.Equivalence, error) {
	equal.Older = older
	for _, r := range equal.Rewrites {
		p, c := before.Log.Ledger, after.Log.Ledger
		switch {
		case r.Before != nil && (r.After != nil || !r.Unordered), c.Extends(p),
			!r.Unordered && (!older || r.Undone(p) || r.Done(p) || !r.Done(c)), r.Unordered && (p.SetHead() == r.From || c.HasAll(p)):
			continue // nothing has to be found
		}
		if _, err := src.findBefore(ctx, tips, path, r); err != nil {
			return equal, err
		}
		if r.Before == nil || !r.Unordered || r.After != nil {
			continue
		}
		at, err := src.newestVersion(ctx, tips, path, func(l *ledger.Ledger) bool { return l.SetHead() == r.To })
		if err != nil {
			return equal, err
		}
		if at != nil {
			r.After = slices.Clip(at.Log.Entries)
		}
	}
	return equal, nil
}

// findBefore reports whether an ancestor of some commits has a log that begins with what a rewrite started from, and notes those entries.
func (src *Source) findBefore(ctx context.Context, tips []string, path string, r *ledger.Rewrite) (bool, error) {
	at, err := src.newestVersion(ctx, tips, path, func(l *ledger.Ledger) bool {
		_, ok := r.Beginning(l, r.From)
		return ok
	}, r)
	if err != nil || at == nil {
		return false, err
	}
	entries, _ := r.Beginning(at.Log.Ledger, r.From)
	r.Before = slices.Clip(entries)
	return true, nil
}

// FindBefore notes what a rewrite started from, if an ancestor of some commits has it.
func (src *Source) FindBefore(ctx context.Context, tips []string, path string, r *ledger.Rewrite) error {
	if r.Before != nil {
		return nil
	}
	_, err := src.findBefore(ctx, tips, path, r)
	return err
}

// WasRewritten reports whether an approved rewrite is behind one of some commits, where a log is as given.
func (src *Source) WasRewritten(ctx context.Context, tip, path string, log *ledger.Ledger, r *ledger.Rewrite) (bool, error) {
	if !r.Unordered && !r.Done(log) || tip == "" {
		return false, nil
	}
	found, err := src.findBefore(ctx, []string{tip}, path, r)
	return found && r.Done(log), err
}

// newestVersion finds the newest version of a log for which a test holds, among the ancestors of some commits; nil if there is none. If a
// rewrite is given, the test mostly holds just before the versions that have it behind them.
func (src *Source) newestVersion(ctx context.Context, tips []string, path string, test func(*ledger.Ledger) bool, after ...*ledger.Rewrite) (*LedgerFile, error) {
	files, err := src.versionsBehind(ctx, tips, path)
	if err != nil {
		return nil, err
	}
	at := func(i int) (*LedgerFile, error) { return src.Logs(path).Read(ctx, files[i], nil) }
	if len(after) > 0 && !after[0].Unordered {
		i := sort.Search(len(files), func(i int) bool {
			log, failed := at(i)
			err = cmp.Or(err, failed)
			return failed == nil && log.Readable() && after[0].Done(log.Log.Ledger)
		})
		if err != nil {
			return nil, err
		}
		if i > 0 {
			if log, err := at(i - 1); err != nil || log.Readable() && test(log.Log.Ledger) {
				return log, err
			}
		}
	}
	for i := range slices.Backward(files) {
		if log, err := at(i); err != nil || log.Readable() && test(log.Log.Ledger) {
			return log, err
		}
	}
	return nil, nil
}

// versionsBehind are the files at a path in some commits and their ancestors, in the order of the commits.
func (src *Source) versionsBehind(ctx context.Context, tips []string, path string) ([]history.File, error) {
	within := map[int]bool{}
	for _, tip := range tips {
		if tip == "" || history.Uncommitted(tip) {
			continue
		}
		a, n, err := src.loadAncestry(ctx, tip)
		if err != nil {
			return nil, err
		}
		for i, reached := range a.reachableFrom(n) {
			if reached {
				within[i] = true
			}
		}
	}
	var out []history.File
	for i := range src.ancestry.commits {
		if !within[i] {
			continue
		}
		for _, edge := range src.ancestry.commits[i].changes {
			if c, changed := history.ChangeAt(edge, path); changed && c.New.Mode != "" {
				out = append(out, c.New)
				break
			}
		}
	}
	return out, nil
}
