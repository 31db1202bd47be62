package read

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Approve completes the approvals of rewrites that may matter to two versions of a log: an approval names two ledger heads, and the entries of
// one that neither version begins with are found among the ancestors of some commits. older says whether the earlier version may be from
// before what a rewrite started from.
func (src *Source) Approve(ctx context.Context, equal ledger.Equivalence, tips []string, path string, before, after *LedgerFile, older bool) (ledger.Equivalence, error) {
	equal.Older = older
	p, c := before.Log.Ledger, after.Log.Ledger
	if c.Extends(p) {
		return equal, nil
	}
	for _, r := range equal.Rewrites {
		if r.Unordered && !c.HasAll(p) || r.Loose && !r.Unordered {
			if err := src.findEnds(ctx, tips, path, r); err != nil {
				return equal, err
			}
		}
		if !r.Unordered && older && !r.Undone(p) && !r.Done(p) && r.Done(c) {
			if err := src.FindEarlier(ctx, tips, path, equal, r); err != nil {
				return equal, err
			}
		}
	}
	return equal, nil
}

// FindEarlier finds what a rewrite started from, and what those before it did, among the ancestors of some commits.
func (src *Source) FindEarlier(ctx context.Context, tips []string, path string, equal ledger.Equivalence, r *ledger.Rewrite) error {
	for n := 0; r != nil && n < len(equal.Rewrites); n++ {
		if err := src.FindBefore(ctx, tips, path, r); err != nil {
			return err
		}
		r = equal.Earlier(r)
	}
	return nil
}

// FindRewrites finds what approved rewrites of a log started from and led to, among the ancestors of some commits, where their heads alone do
// not tell whether a version has these entries.
func (src *Source) FindRewrites(ctx context.Context, tips []string, path string, equal ledger.Equivalence) error {
	for _, r := range equal.Rewrites {
		if r.Unordered || r.Loose {
			if err := src.findEnds(ctx, tips, path, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// findEnds finds the entries that a rewrite started from and led to.
func (src *Source) findEnds(ctx context.Context, tips []string, path string, r *ledger.Rewrite) error {
	if err := src.FindBefore(ctx, tips, path, r); err != nil || r.Before == nil || r.After != nil {
		return err
	}
	at, err := src.versionWith(ctx, tips, path, r, r.To)
	if at != nil {
		after, _ := r.Beginning(at.Log.Ledger, r.To)
		r.After = slices.Clip(after)
	}
	return err
}

// findBefore reports whether an ancestor of some commits has a log that begins with what a rewrite started from, and notes those entries.
func (src *Source) findBefore(ctx context.Context, tips []string, path string, r *ledger.Rewrite) (bool, error) {
	find := src.newestVersion
	if r.Unordered || r.Loose {
		find = src.versionWith
	}
	at, err := find(ctx, tips, path, r, r.From)
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

// WasRewritten reports whether an approved rewrite is behind a commit, where a log is as given.
func (src *Source) WasRewritten(ctx context.Context, tip, path string, log *ledger.Ledger, equal ledger.Equivalence, r *ledger.Rewrite) (bool, error) {
	if tip == "" {
		return false, nil
	}
	if r.Loose {
		if err := src.findEnds(ctx, []string{tip}, path, r); err != nil {
			return false, err
		}
	}
	if !r.Unordered && !equal.Done(r, log) {
		return false, nil
	}
	found, err := src.findBefore(ctx, []string{tip}, path, r)
	return found && equal.Done(r, log), err
}

// newestVersion finds the newest version of a log that begins with a head, among the ancestors of some commits; nil if there is none. Mostly
// that is the one just before the versions that have the rewrite behind them.
func (src *Source) newestVersion(ctx context.Context, tips []string, path string, r *ledger.Rewrite, head small.Digest) (*LedgerFile, error) {
	files, err := src.versionsBehind(ctx, tips, path)
	if err != nil {
		return nil, err
	}
	at := func(i int) (*LedgerFile, error) { return src.Logs(path).Read(ctx, files[i], nil) }
	i := sort.Search(len(files), func(i int) bool {
		log, failed := at(i)
		err = cmp.Or(err, failed)
		return failed == nil && log.Readable() && r.Done(log.Log.Ledger)
	})
	if err != nil {
		return nil, err
	}
	if i > 0 {
		if log, err := at(i - 1); err != nil || log.beginsWith(r, head) {
			return log, err
		}
	}
	for i := range slices.Backward(files) {
		if log, err := at(i); err != nil || log.beginsWith(r, head) {
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
