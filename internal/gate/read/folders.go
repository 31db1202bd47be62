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
// folder has the head. seen are the commits that were looked at, tips those whose ancestors were searched.
type folderSearch struct {
	before, after []ledger.Entry
	beforeAt      string // the commit with before
	seen, tips    map[string]bool
	// removed are the entries that the rewrite removed in the history of the commit removedAt, which RemovedFromFolder was asked for last.
	removed   map[small.Digest]bool
	removedAt string
}

// isOver reports whether no more can be found.
func (s *folderSearch) isOver() bool {
	return s.before != nil && s.after != nil || len(s.seen) >= folderVersions
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
	search := src.folderSearchOf(folder, stanza, r)
	defer func() { r.Before, r.After = search.before, search.after }()
	for _, tip := range tips {
		if tip == "" || history.Uncommitted(tip) || search.tips[tip] || search.isOver() {
			continue
		}
		search.tips[tip] = true
		a, n, err := src.loadAncestry(ctx, tip)
		if err != nil {
			return err
		}
		reached := a.reachableFrom(n)
		for i := n; i >= 0 && !search.isOver(); i-- {
			commit := &a.commits[i]
			if !reached[i] || search.seen[commit.id] || !src.changesFolder(commit, folder, stanza) {
				continue
			}
			search.seen[commit.id] = true
			l, err := src.folderAt(ctx, commit.id, folder, stanza)
			if err != nil {
				return err
			}
			switch head := l.SetHead(); {
			case head == r.From && search.before == nil:
				search.before, search.beforeAt = l.Entries, commit.id
			case head == r.To && search.after == nil:
				search.after = l.Entries
			}
		}
	}
	return nil
}

// changesFolder reports whether a commit changes files of a folder that have a stanza.
func (src *Source) changesFolder(commit *ancestor, folder string, stanza *policy.Log) bool {
	inFolder := func(c history.Change) bool { return path.Dir(c.Path) == folder && src.Policy.LogFor(c.Path) == stanza }
	return slices.ContainsFunc(commit.changes, func(edge []history.Change) bool { return slices.ContainsFunc(edge, inFolder) })
}

func (src *Source) folderSearchOf(folder string, stanza *policy.Log, r *ledger.Rewrite) *folderSearch {
	key := strings.Join([]string{folder, stanza.Path, r.From.String(), r.To.String()}, "\x00")
	search := src.folderSearches[key]
	if search == nil {
		// NewRewrite knows what a rewrite led to that left nothing.
		search = &folderSearch{after: r.After, seen: map[string]bool{}, tips: map[string]bool{}}
		src.folderSearches[key] = search
	}
	return search
}

// RemovedFromFolder reports whether an entry, which a folder lacks in a commit, was removed by an approved rewrite in the history of that commit.
func (src *Source) RemovedFromFolder(ctx context.Context, commit, folder string, stanza *policy.Log, w policy.Waiver, entry small.Digest) (bool, error) {
	r := ledger.NewRewrite(*w.From, *w.To, true, !stanza.Form().ComparesWhole())
	search := src.folderSearchOf(folder, stanza, r)
	if search.removedAt == commit {
		return search.removed[entry], nil
	}
	has := func(entries []ledger.Entry) bool {
		return slices.ContainsFunc(entries, func(e ledger.Entry) bool { return e.Digest == entry })
	}
	if err := src.completeFolderRewrite(ctx, []string{commit}, folder, stanza, r); err != nil || !has(r.Before) || has(r.After) {
		return false, err
	}
	now, err := src.folderAt(ctx, commit, folder, stanza)
	if err != nil {
		return false, err
	}
	made, err := src.isFolderRewritten(ctx, commit, now, folder, stanza, r)
	if err != nil {
		return false, err
	}
	search.removedAt, search.removed = commit, nil
	if !made {
		return false, nil
	}
	search.removed = ledger.DigestSet(ledger.OfEntries(r.Before))
	for _, kept := range [][]ledger.Entry{now.Entries, r.After} {
		for _, e := range kept {
			delete(search.removed, e.Digest)
		}
	}
	return search.removed[entry], nil
}

// isFolderRewritten reports whether a rewrite of a folder was made in the history of a commit, and not undone. now is the folder in that commit. It is not
// enough that an entry is gone: somebody may have removed it who had no approval.
func (src *Source) isFolderRewritten(ctx context.Context, commit string, now *ledger.Ledger, folder string, stanza *policy.Log, r *ledger.Rewrite) (bool, error) {
	a, n, err := src.loadAncestry(ctx, commit)
	if err != nil {
		return false, err
	}
	reached := a.reachableFrom(n)
	first, known := a.number[src.folderSearchOf(folder, stanza, r).beforeAt]
	if !known || first > n || !reached[first] || r.HasBefore(now) {
		return false, nil
	}
	before := ledger.OfEntries(r.Before)
	made := func(l *ledger.Ledger) bool {
		return ledger.Equivalence{Rewrites: []*ledger.Rewrite{r}}.ApplyRewrite(before, l) != before
	}
	if made(now) {
		return true, nil
	}
	looked := 0
	for i := n; i > first && looked < folderVersions; i-- {
		if !reached[i] || !src.changesFolder(&a.commits[i], folder, stanza) {
			continue
		}
		looked++
		if l, err := src.folderAt(ctx, a.commits[i].id, folder, stanza); err != nil || made(l) {
			return err == nil, err
		}
	}
	return looked == folderVersions, nil
}
