package logs

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
)

// allowByFolder marks the edit of a file that an approved rewrite of its folder makes: the findings about it are waived. A rewrite that removes a file
// does not allow to modify it: a file that keeps its name is no new entry.
func allowByFolder(ctx context.Context, e *LogChange) error {
	if !e.isFileEntry() || len(e.Edits) == 0 || e.Allowed != "" || e.Parent == "" {
		return nil
	}
	return forFolderRewrites(ctx, e.Run, e.Parent, e.Commit, e.Path, func(w policy.Waiver, x *read.FolderRewrite) {
		allowed := true
		for _, edit := range e.Edits {
			allowed = allowed && edit.OldIndex >= 0 && x.Removed[e.Old.Entries[edit.OldIndex].Digest] &&
				(edit.NewIndex < 0 || x.Added[e.New.Entries[edit.NewIndex].Digest])
		}
		if allowed {
			e.Allowed, e.From, e.To = w.Path, *w.From, *w.To
		}
	})
}

// IsAddedByRewrite reports whether an approved rewrite of its folder adds a file on the edge from a parent to a child.
func IsAddedByRewrite(ctx context.Context, r *run.Run, parent, child string, f history.File) (added bool, err error) {
	log, err := r.Source.ReaderOf(f.Path).Read(ctx, f, nil)
	if err != nil || !log.Readable() {
		return false, err
	}
	err = forFolderRewrites(ctx, r, parent, child, f.Path, func(_ policy.Waiver, x *read.FolderRewrite) {
		for _, entry := range log.Log.Entries {
			added = added || x.Added[entry.Digest]
		}
	})
	return added, err
}

// findReturnedFile finds the entry of a file that a parent lacks because an approved rewrite of its folder removed it.
func (l *CommitLog) findReturnedFile(ctx context.Context) (out []ledger.Entry, err error) {
	src, folder := l.Run.Source, path.Dir(l.Path)
	stanza := src.Policy.LogFor(l.Path)
	if stanza == nil || !src.IsFileEntry(l.Path) || l.Child.Log.Len() == 0 {
		return nil, nil
	}
	for _, w := range src.Policy.Waivers {
		if !w.OfLog || w.From == nil || w.To == nil || w.Expired(src.Now) || w.Path == l.Path || !stanza.NamesFolder(w.Path, folder) {
			continue
		}
		for _, p := range l.Parents {
			if len(p.Ledgers) > 0 || p.ID == "" {
				continue
			}
			e := l.Child.Log.Entries[0]
			if removed, err := src.RemovedFromFolder(ctx, p.ID, folder, stanza, w, e.Digest); err != nil || removed {
				return []ledger.Entry{e}, err
			}
		}
	}
	return out, nil
}

// settledByRewrite reports whether one of two tips has made an approved rewrite of a file's folder that removes the version which the other one still
// has. A merge then takes what the rewrite led to.
func settledByRewrite(ctx context.Context, r *run.Run, at string, edge history.Edge, target, head *read.LedgerFile) (settled bool, err error) {
	if !r.Source.IsFileEntry(at) || !slices.ContainsFunc(r.Source.Policy.Waivers, func(w policy.Waiver) bool { return w.OfLog }) {
		return false, nil
	}
	bases, err := r.Source.History.MergeBases(ctx, edge.Parent, edge.Child)
	if err != nil {
		return false, err
	}
	for _, base := range bases {
		for tip, other := range map[string]*read.LedgerFile{edge.Parent: head, edge.Child: target} {
			err := forFolderRewrites(ctx, r, base, tip, at, func(_ policy.Waiver, x *read.FolderRewrite) {
				settled = settled || !slices.ContainsFunc(other.Log.Entries, func(e ledger.Entry) bool { return !x.Removed[e.Digest] })
			})
			if err != nil {
				return false, err
			}
		}
	}
	return settled, nil
}

// forFolderRewrites calls do for each approved rewrite of the folder of a file that was made on the edge from a parent to a child.
func forFolderRewrites(ctx context.Context, r *run.Run, parent, child, at string, do func(policy.Waiver, *read.FolderRewrite)) error {
	stanza, folder := r.Source.Policy.LogFor(at), path.Dir(at)
	if stanza == nil {
		return nil
	}
	for _, w := range r.Source.Policy.Waivers {
		if !w.OfLog || w.From == nil || w.To == nil || w.Expired(r.Source.Now) || w.Path == at || !stanza.NamesFolder(w.Path, folder) {
			continue
		}
		key := strings.Join([]string{parent, child, folder, stanza.Path, w.From.String(), w.To.String()}, "\x00")
		x, known := r.Learned.FolderRewrites[key]
		if !known {
			var err error
			tips := append(slices.Clone(r.Scope.Parents), parent, child)
			if x, err = r.Source.FolderRewriteOn(ctx, parent, child, tips, folder, stanza, w); err != nil {
				return err
			}
			if r.Learned.FolderRewrites == nil {
				r.Learned.FolderRewrites = map[string]*read.FolderRewrite{}
			}
			r.Learned.FolderRewrites[key] = x
		}
		if x != nil {
			do(w, x)
		}
	}
	return nil
}
