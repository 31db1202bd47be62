package read

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// searchResults holds the results of searches for one version. Its keys are the numbers of commits. The value is the number of the commit, among the
// key's commit and its ancestors, that has such a version; -1 if none has.
type searchResults map[int]int

// searchKey says what a search looks for: a version of a log that begins with head, which is the rewrite's From or To.
type searchKey struct {
	rewrite *ledger.Rewrite
	head    small.Digest
}

// findVersion finds a version of a log that begins with a head of a rewrite, in tips and their ancestors; nil if there is none. If it finds one, it
// remembers that for the tip; if not, for every commit that it searched. So a walk over a history reads each version once.
func (src *Source) findVersion(ctx context.Context, tips []string, path string, r *ledger.Rewrite, head small.Digest) (*LedgerFile, error) {
	key := searchKey{r, head}
	if src.searches[key] == nil {
		src.searches[key] = searchResults{}
	}
	for _, tip := range tips {
		if tip == "" || history.Uncommitted(tip) {
			continue
		}
		a, n, err := src.loadAncestry(ctx, tip)
		if err != nil {
			return nil, err
		}
		found, err := src.searches[key].find(a, n, path, func(i int) (bool, error) {
			log, err := src.readChanged(ctx, i, path)
			return log.beginsWith(r, head), err
		})
		if err != nil {
			return nil, err
		}
		if found >= 0 {
			return src.readChanged(ctx, found, path)
		}
	}
	return nil, nil
}

// find finds a commit for which a test holds, among a commit and its ancestors; -1 if there is none. It first tests the commits that
// changesNearConfiguration lists, since an approval is committed with the rewrite or just before it. Then it tests all commits whose result s does not
// have, the newest first. If s has the results of all parents, it tests only the commit itself.
func (s searchResults) find(a *ancestry, n int, path string, test func(int) (bool, error)) (int, error) {
	if _, known := s[n]; !known && slices.ContainsFunc(a.commits[n].parents, func(p int) bool { _, known := s[p]; return !known }) {
		for _, i := range a.changesNearConfiguration(n, path) {
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

// changesNearConfiguration lists the commits, among a commit and its ancestors, that change a log just before, in, or just after a commit that changes
// the configuration. The newest is the first.
func (a *ancestry) changesNearConfiguration(n int, path string) (near []int) {
	reached := a.reachableFrom(n)
	later, before := -1, 0 // the last commit seen that changes the log and is not listed; how many of the next ones to list
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

// beginsWith reports whether a log begins with the entries of a rewrite's head or, if they have no order, has exactly these.
func (f *LedgerFile) beginsWith(r *ledger.Rewrite, head small.Digest) bool {
	if !f.Readable() {
		return false
	}
	_, ok := r.EntriesWithHead(f.Log.Ledger, head)
	return ok
}

// readChanged reads the log that a commit put at a path; nil if the commit did not change it, or removed it.
func (src *Source) readChanged(ctx context.Context, n int, path string) (*LedgerFile, error) {
	for _, edge := range src.ancestry.commits[n].changes {
		if c, changed := history.ChangeAt(edge, path); changed && c.New.Mode != "" {
			return src.ReaderOf(path).Read(ctx, c.New, nil)
		}
	}
	return nil, nil
}
