package read

import (
	"context"
	"path"
	"slices"

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
	left := folderVersions
	for i := len(src.ancestry.commits) - 1; i >= 0 && left > 0 && (r.Before == nil || r.After == nil); i-- {
		commit := &src.ancestry.commits[i]
		if !within[i] || !slices.ContainsFunc(commit.changes, func(edge []history.Change) bool { return slices.ContainsFunc(edge, inFolder) }) {
			continue
		}
		left--
		l, err := src.folderAt(ctx, commit.id, folder, stanza)
		if err != nil {
			return err
		}
		switch l.SetHead() {
		case r.From:
			r.Before = l.Entries
		case r.To:
			r.After = l.Entries
		}
	}
	return nil
}
