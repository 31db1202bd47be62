package read

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// FolderRewrite is what an approved rewrite of a folder of files does on an edge.
type FolderRewrite struct {
	// Removed are the entries that it removes, Added those that it leads to and that were not there before.
	Removed, Added map[small.Digest]bool
}

// folderVersions is the largest number of commits that are searched for the version of a folder from which a rewrite started, or to which it led.
const folderVersions = 1000

// folderSearch is what was found of one approved rewrite of a folder: the entries before and after it, which are the same in each commit where the
// folder has the head. seen are the commits that were looked at.
type folderSearch struct {
	before, after []ledger.Entry
	beforeAt      string // the commit with before
	seen          map[string]bool
}

// FolderRewriteOn applies the approved rewrite of a folder's files, which share a stanza, to the edge from a parent to a child. tips are commits whose
// ancestors may have the folder as it was before or after the rewrite. It returns nil if the rewrite was not made on this edge.
func (src *Source) FolderRewriteOn(ctx context.Context, parent, child string, tips []string, folder string, stanza *policy.Log, w policy.Waiver) (*FolderRewrite, error) {
	p, err := src.folderAt(ctx, parent, folder, stanza)
	if err != nil {
		return nil, err
	}
	c, err := src.folderAt(ctx, child, folder, stanza)
	if err != nil {
		return nil, err
	}
	r := ledger.NewRewrite(*w.From, *w.To, true, !stanza.Form().ComparesWhole())
	if p.SetHead() != r.From || c.SetHead() != r.To {
		if err := src.completeFolderRewrite(ctx, tips, folder, stanza, r); err != nil {
			return nil, err
		}
	}
	applied := ledger.Equivalence{Rewrites: []*ledger.Rewrite{r}, Older: true}.ApplyRewrite(p, c)
	if applied == p {
		return nil, nil
	}
	old, now := ledger.DigestSet(p), ledger.DigestSet(applied)
	out := &FolderRewrite{Removed: map[small.Digest]bool{}, Added: map[small.Digest]bool{}}
	for d := range old {
		if !now[d] {
			out.Removed[d] = true
		}
	}
	for d := range now {
		if !old[d] {
			out.Added[d] = true
		}
	}
	return out, nil
}

// folderAt returns the entries that the files of a folder are in a revision, as far as they have the stanza.
func (src *Source) folderAt(ctx context.Context, revision, folder string, stanza *policy.Log) (*ledger.Ledger, error) {
	files, err := src.Tree.List(ctx, revision, history.Matching(path.Join(policy.LiteralPattern(folder), "*")))
	if err != nil {
		return nil, err
	}
	var out []ledger.Entry
	for _, f := range files {
		if src.Policy.LogFor(f.Path) != stanza {
			continue
		}
		log, err := src.ReaderOf(f.Path).Read(ctx, f, nil)
		if err != nil {
			return nil, err
		}
		if log.Readable() {
			out = append(out, log.Log.Entries...)
		}
	}
	return ledger.OfEntries(out), nil
}

// completeFolderRewrite finds the entries that a rewrite started from and led to, in tips and their ancestors, the newest first.
func (src *Source) completeFolderRewrite(ctx context.Context, tips []string, folder string, stanza *policy.Log, r *ledger.Rewrite) error {
	inFolder := func(c history.Change) bool { return path.Dir(c.Path) == folder && src.Policy.LogFor(c.Path) == stanza }
	within := map[int]bool{}
	for _, tip := range tips {
		if tip == "" || history.Uncommitted(tip) {
			continue
		}
		a, n, err := src.loadAncestry(ctx, tip)
		if err != nil {
			return err
		}
		for i, reached := range a.reachableFrom(n) {
			if reached {
				within[i] = true
			}
		}
	}
	search := src.folderSearchOf(folder, stanza, r)
	r.Before = search.before
	if r.After == nil { // that of an empty folder is known
		r.After = search.after
	}
	for i := len(src.ancestry.commits) - 1; i >= 0 && len(search.seen) < folderVersions && (r.Before == nil || r.After == nil); i-- {
		commit := &src.ancestry.commits[i]
		if !within[i] || search.seen[commit.id] || !slices.ContainsFunc(commit.changes, func(edge []history.Change) bool { return slices.ContainsFunc(edge, inFolder) }) {
			continue
		}
		search.seen[commit.id] = true
		l, err := src.folderAt(ctx, commit.id, folder, stanza)
		if err != nil {
			return err
		}
		switch l.SetHead() {
		case r.From:
			r.Before, search.beforeAt = l.Entries, commit.id
		case r.To:
			r.After = l.Entries
		}
		search.before, search.after = r.Before, r.After
	}
	return nil
}

func (src *Source) folderSearchOf(folder string, stanza *policy.Log, r *ledger.Rewrite) *folderSearch {
	key := strings.Join([]string{folder, stanza.Path, r.From.String(), r.To.String()}, "\x00")
	search := src.folderSearches[key]
	if search == nil {
		search = &folderSearch{seen: map[string]bool{}}
		src.folderSearches[key] = search
	}
	return search
}

// RemovedFromFolder returns the entries that an approved rewrite of a folder removed in the history of a commit; none if it was not made there.
func (src *Source) RemovedFromFolder(ctx context.Context, commit, folder string, stanza *policy.Log, w policy.Waiver) (map[small.Digest]bool, error) {
	r := ledger.NewRewrite(*w.From, *w.To, true, !stanza.Form().ComparesWhole())
	if err := src.completeFolderRewrite(ctx, []string{commit}, folder, stanza, r); err != nil || r.Before == nil {
		return nil, err
	}
	a, n, err := src.loadAncestry(ctx, commit)
	if err != nil {
		return nil, err
	}
	if at, known := a.number[src.folderSearchOf(folder, stanza, r).beforeAt]; !known || at > n || !a.reachableFrom(n)[at] {
		return nil, nil
	}
	now, err := src.folderAt(ctx, commit, folder, stanza)
	if err != nil || r.HasBefore(now) {
		return nil, err
	}
	removed := ledger.DigestSet(ledger.OfEntries(r.Before))
	for _, kept := range [][]ledger.Entry{now.Entries, r.After} {
		for _, e := range kept {
			delete(removed, e.Digest)
		}
	}
	return removed, nil
}
