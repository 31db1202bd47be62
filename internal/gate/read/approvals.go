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

// CompleteApprovals finds the entries of approved rewrites that may explain how one version of a log became another. An approval names only the
// heads of what a rewrite started from and led to. If the two versions do not show which entries these are, it looks for them in the log's versions in
// tips and their ancestors. older is true if the version before may be older than the version that a rewrite started from.
func (src *Source) CompleteApprovals(ctx context.Context, equal ledger.Equivalence, tips []string, path string, before, after *LedgerFile, older bool) (ledger.Equivalence, error) {
	equal.Older = older
	p, c := before.Log.Ledger, after.Log.Ledger
	if c.Extends(p) {
		return equal, nil
	}
	for _, r := range equal.Rewrites {
		if r.Unordered && !c.HasAll(p) || r.ComparesPart && !r.Unordered {
			if err := src.completeRewrite(ctx, tips, path, r); err != nil {
				return equal, err
			}
		}
		if !r.Unordered && older && !r.HasBefore(p) && r.DoneIn(c) {
			if err := src.FindBeforeInChain(ctx, tips, path, equal, r); err != nil {
				return equal, err
			}
		}
	}
	return equal, nil
}

// FindBeforeInChain calls FindBefore for a rewrite and for those that came before it.
func (src *Source) FindBeforeInChain(ctx context.Context, tips []string, path string, equal ledger.Equivalence, r *ledger.Rewrite) error {
	for n := 0; r != nil && n < len(equal.Rewrites); n++ {
		if err := src.FindBefore(ctx, tips, path, r); err != nil {
			return err
		}
		r = equal.Previous(r)
	}
	return nil
}

// CompleteRewrites finds the entries that approved rewrites of a log started from and led to, in tips and their ancestors. It does so for the rewrites
// whose heads alone do not tell whether a version has these entries.
func (src *Source) CompleteRewrites(ctx context.Context, tips []string, path string, equal ledger.Equivalence) error {
	for _, r := range equal.Rewrites {
		if r.Unordered || r.ComparesPart {
			if err := src.completeRewrite(ctx, tips, path, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// completeRewrite finds the entries that a rewrite started from and, if it found these, those that it led to, in tips and their ancestors.
func (src *Source) completeRewrite(ctx context.Context, tips []string, path string, r *ledger.Rewrite) error {
	if err := src.FindBefore(ctx, tips, path, r); err != nil || r.Before == nil || r.After != nil {
		return err
	}
	at, err := src.findVersion(ctx, tips, path, r, r.To)
	if at != nil {
		after, _ := r.EntriesWithHead(at.Log.Ledger, r.To)
		r.After = slices.Clip(after)
	}
	return err
}

// searchBefore looks for the entries that a rewrite started from, in tips and their ancestors. It notes them in the rewrite, and reports whether it
// found them.
func (src *Source) searchBefore(ctx context.Context, tips []string, path string, r *ledger.Rewrite) (bool, error) {
	find := src.findNewestVersion
	if r.Unordered || r.ComparesPart {
		find = src.findVersion
	}
	at, err := find(ctx, tips, path, r, r.From)
	if err != nil || at == nil {
		return false, err
	}
	entries, _ := r.EntriesWithHead(at.Log.Ledger, r.From)
	r.Before = slices.Clip(entries)
	return true, nil
}

// FindBefore finds a rewrite's Before with searchBefore, unless it is known.
func (src *Source) FindBefore(ctx context.Context, tips []string, path string, r *ledger.Rewrite) error {
	if r.Before != nil {
		return nil
	}
	_, err := src.searchBefore(ctx, tips, path, r)
	return err
}

// WasRewritten reports whether an approved rewrite was made in a commit or one of its ancestors. log is the log in that commit.
func (src *Source) WasRewritten(ctx context.Context, tip, path string, log *ledger.Ledger, equal ledger.Equivalence, r *ledger.Rewrite) (bool, error) {
	if tip == "" {
		return false, nil
	}
	if r.ComparesPart {
		if err := src.completeRewrite(ctx, []string{tip}, path, r); err != nil {
			return false, err
		}
	}
	if !r.Unordered && !equal.DoneOrFollowed(r, log) {
		return false, nil
	}
	found, err := src.searchBefore(ctx, []string{tip}, path, r)
	return found && equal.DoneOrFollowed(r, log), err
}

// findNewestVersion finds the newest version of a log that begins with a head, in tips and their ancestors; nil if there is none. It tries first the
// version before the first one in which the rewrite is done, found by bisection. If that one does not begin with the head, it reads all versions, the
// newest first.
func (src *Source) findNewestVersion(ctx context.Context, tips []string, path string, r *ledger.Rewrite, head small.Digest) (*LedgerFile, error) {
	files, err := src.listVersions(ctx, tips, path)
	if err != nil {
		return nil, err
	}
	at := func(i int) (*LedgerFile, error) { return src.ReaderOf(path).Read(ctx, files[i], nil) }
	i := sort.Search(len(files), func(i int) bool {
		log, failed := at(i)
		err = cmp.Or(err, failed)
		return failed == nil && log.Readable() && r.DoneIn(log.Log.Ledger)
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

// listVersions lists the files that tips and their ancestors put at a path, in the order of the commits.
func (src *Source) listVersions(ctx context.Context, tips []string, path string) ([]history.File, error) {
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
