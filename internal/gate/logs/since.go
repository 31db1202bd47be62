package logs

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
)

// checkSince fails if a log's since commit cannot be read, or has not landed: nobody accepts a rewrite before it is merged.
func checkSince(ctx context.Context, r *run.Run, path string) error {
	stanza := r.Source.Policy.LogFor(path)
	if stanza == nil || stanza.Since == "" {
		return nil
	}
	return r.Source.CheckSince(ctx, stanza, func(ctx context.Context) ([]string, error) {
		b, err := r.Branches(ctx)
		return []string{b.Target.ID, b.Landed.ID}, err
	})
}

// acceptedGone reports whether the log's since commit accepts every entry that is gone with it.
func acceptedGone(ctx context.Context, r *run.Run, n history.Commit, parent, path string, before *read.LedgerFile) (bool, error) {
	equal, err := r.Source.AcceptSince(ctx, ledger.Equivalence{}, parent, contained(r, n), path, path, before, nil)
	return equal.Accepted != nil && !slices.ContainsFunc(before.Log.Entries, func(e ledger.Entry) bool { return !equal.Accepted[e.Digest] }), err
}

// contained are commits whose ancestors, with themselves, are those of a commit: itself or, if it is not made yet, its parents.
func contained(r *run.Run, n history.Commit) []string {
	switch {
	case !history.Uncommitted(n.ID):
		return []string{n.ID}
	case n.Parents != nil:
		return n.Parents
	}
	return r.Scope.Parents
}
