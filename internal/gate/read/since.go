package read

import (
	"context"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// CheckSince fails if a log's since commit, after which it is judged, cannot be read.
func (src *Source) CheckSince(ctx context.Context, path string) error {
	stanza := src.Policy.LogFor(path)
	if stanza == nil || stanza.Since == "" || src.History == nil || src.since[stanza.Since] {
		return nil
	}
	if _, err := src.History.Signature(ctx, stanza.Since); err != nil {
		return &failure.Error{
			Message: fmt.Sprintf("line %d of %s: the commit since which the log is judged cannot be read: %s: %v", stanza.Pos.Line, src.Policy.Source, stanza.Since, err),
			Remedy:  "fetch it (`git fetch origin " + stanza.Since + "`); if nobody has it any more, have a person name another commit there",
			Err:     err,
		}
	}
	src.since[stanza.Since] = true
	return nil
}

// AcceptSince is what counts as equal on a log's edge from one parent: if the parent does not contain the log's since commit, what the log
// held in that commit and its ancestors counts on neither side.
func (src *Source) AcceptSince(ctx context.Context, equal ledger.Equivalence, parent, from, to string, before, after *LedgerFile) (ledger.Equivalence, error) {
	stanza := src.Policy.LogFor(to)
	if stanza == nil || stanza.Since == "" || after.Readable() && after.Log.Extends(before.Log.Ledger) {
		return equal, nil
	}
	if parent != "" {
		bases, err := src.History.MergeBases(ctx, parent, stanza.Since)
		if err != nil || slices.Contains(bases, stanza.Since) {
			return equal, err
		}
	}
	past, err := src.pastOf(ctx, stanza, from)
	if err != nil {
		return equal, err
	}
	return equal.Without(past.entries), nil
}

// IsBeforeSince reports whether a commit is a log's since commit, or an ancestor of it.
func (src *Source) IsBeforeSince(ctx context.Context, commit, path string) (bool, error) {
	stanza := src.Policy.LogFor(path)
	if stanza == nil || stanza.Since == "" {
		return false, nil
	}
	past, err := src.pastOf(ctx, stanza, "")
	return err == nil && past.commits[commit], err
}

// pastOf is what a stanza's since commit accepts: it and its ancestors and, for a log at a path, the entries of any version in them. An
// empty path means no log.
func (src *Source) pastOf(ctx context.Context, stanza *policy.Log, path string) (*acceptedHistory, error) {
	key := stanza.Since + "\x00" + path
	if known := src.pasts[key]; known != nil {
		return known, nil
	}
	a, n, err := src.loadAncestry(ctx, stanza.Since)
	if err != nil {
		return nil, err
	}
	p := &acceptedHistory{commits: map[string]bool{}, paths: map[string]bool{path: true}, entries: map[small.Digest]bool{}}
	within := a.reachableFrom(n)
	for i := n; i >= 0; i-- {
		if !within[i] {
			continue
		}
		p.commits[a.commits[i].id] = true
		if err := src.addAccepted(ctx, p, a, i); err != nil {
			return nil, err
		}
	}
	src.pasts[key] = p
	return p, nil
}
