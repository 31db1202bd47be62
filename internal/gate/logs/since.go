package logs

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
)

// checkSince fails if a log's since commit cannot be read or has not landed: nobody may accept a rewrite before it is merged.
func checkSince(ctx context.Context, r *run.Run, path string) error {
	stanza := r.Source.Policy.LogFor(path)
	if stanza == nil || stanza.Since == "" {
		return nil
	}
	return r.Source.CheckSince(ctx, stanza, func(ctx context.Context) ([]string, error) {
		b, err := r.Branches(ctx)
		return []string{b.Target.ID, b.Default.ID}, err
	})
}

// acceptsDeletion reports whether a log's since commit accepts that the log is gone, with every entry of it.
func acceptsDeletion(ctx context.Context, r *run.Run, n history.Commit, parent, path string, before *read.LedgerFile) (bool, error) {
	equal, err := r.Source.AcceptSince(ctx, ledger.Equivalence{}, parent, commitOrParents(r, n), path, path, before, nil)
	return equal.Accepted != nil && !slices.ContainsFunc(before.Log.Entries, func(e ledger.Entry) bool { return !equal.Accepted[e.Digest] }), err
}

// commitOrParents returns the commit's id or, if the commit is not made yet, the ids of its parents.
func commitOrParents(r *run.Run, n history.Commit) []string {
	parents := n.Parents
	if parents == nil {
		parents = r.Scope.Parents
	}
	return history.CommitOrParents(n.ID, parents)
}
