package read

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// searched is what searches for versions with one head have found: the number of the commit that has one, by the number of the commit whose
// ancestors were searched; -1 where there is none.
type searched map[int]int

// searchKey is what a search is for.
type searchKey struct {
	rewrite *ledger.Rewrite
	head    small.Digest
}

// versionWith finds a version of a log with a head, among the ancestors of some commits; nil if there is none. What was found is remembered
// for the commits behind which it is, and that nothing was found for all that were searched: a walk over a history reads each version once.
func (src *Source) versionWith(ctx context.Context, tips []string, path string, r *ledger.Rewrite, head small.Digest) (*LedgerFile, error) {
	key := searchKey{r, head}
	if src.searches[key] == nil {
		src.searches[key] = searched{}
	}
	for _, tip := range tips {
		if tip == "" || history.Uncommitted(tip) {
			continue
		}
		a, n, err := src.loadAncestry(ctx, tip)
		if err != nil {
			return nil, err
		}
		found, err := src.searches[key].behind(a, n, path, func(i int) (bool, error) {
			log, err := src.changedIn(ctx, i, path)
			return log.beginsWith(r, head), err
		})
		if err != nil {
			return nil, err
		}
		if found >= 0 {
			return src.changedIn(ctx, found, path)
		}
	}
	return nil, nil
}

// behind finds a commit for which a test holds, among a commit and its ancestors; -1 if there is none. It asks about a log's versions near
// changes of the configuration first, since an approval is committed with the rewrite or just before it, and else about the newest first.
func (s searched) behind(a *ancestry, n int, path string, test func(int) (bool, error)) (int, error) {
	if _, known := s[n]; !known && slices.ContainsFunc(a.commits[n].parents, func(p int) bool { _, known := s[p]; return !known }) {
		for _, i := range a.nearConfiguration(n, path) {
			if holds, err := test(i); err != nil || holds {
				s[n] = i
				return i, err
			}
		}
	}
	reached, left := map[int]bool{n: true}, 1
	for i := n; left > 0; i-- {
		if !reached[i] {
			continue
		}
		left--
		found, known := s[i]
		if !known {
			holds, err := test(i)
			if err != nil {
				return -1, err
			}
			if found = -1; holds {
				found = i
			}
		}
		if found >= 0 {
			s[n] = found
			return found, nil
		}
		for _, p := range a.commits[i].parents {
			if !known && !reached[p] {
				reached[p] = true
				left++
			}
		}
	}
	for i := range reached {
		s[i] = -1
	}
	return -1, nil
}

// nearConfiguration are a commit's ancestors that change a log just before, in, or just after a commit that changes the configuration, the
// newest first.
func (a *ancestry) nearConfiguration(n int, path string) (near []int) {
	reached := a.reachableFrom(n)
	later, before := -1, 0
	for i := n; i >= 0; i-- {
		c := &a.commits[i]
		if !reached[i] {
			continue
		}
		if c.configures {
			if later >= 0 {
				near, later = append(near, later), -1
			}
			before = 2
		}
		if !c.touches(path) {
			continue
		}
		if later = i; before > 0 {
			near, later = append(near, i), -1
			before--
		}
	}
	return near
}

// touches reports whether a commit changes a log.
func (c *ancestor) touches(path string) bool {
	return slices.ContainsFunc(c.changes, func(edge []history.Change) bool { _, is := history.ChangeAt(edge, path); return is })
}

// beginsWith reports whether a log has the entries that a head of a rewrite is of.
func (f *LedgerFile) beginsWith(r *ledger.Rewrite, head small.Digest) bool {
	if !f.Readable() {
		return false
	}
	_, ok := r.Beginning(f.Log.Ledger, head)
	return ok
}

// changedIn is the log that a commit made of the one at a path; nil if the commit left it as it was, or has none there.
func (src *Source) changedIn(ctx context.Context, n int, path string) (*LedgerFile, error) {
	for _, edge := range src.ancestry.commits[n].changes {
		if c, changed := history.ChangeAt(edge, path); changed && c.New.Mode != "" {
			return src.Logs(path).Read(ctx, c.New, nil)
		}
	}
	return nil, nil
}
