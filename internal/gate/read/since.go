package read

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// CheckSince fails if a log's since commit cannot be read or has not landed. A log is judged only after its since commit, so that a commit that
// has not landed would let somebody accept a rewrite before it is merged. The trusted side, or a commit that landed returns, must contain it.
func (src *Source) CheckSince(ctx context.Context, stanza *policy.Log, landed func(context.Context) ([]string, error)) error {
	if src.History == nil || src.sinceChecked[stanza.Since] {
		return nil
	}
	if _, err := src.History.Signature(ctx, stanza.Since); err != nil {
		return &failure.Error{
			Message: fmt.Sprintf("line %d of %s: the commit since which the log is judged cannot be read: %s", stanza.Pos.Line, src.Policy.Source, failure.Of(err).Message),
			Remedy:  "fetch it (`git fetch origin " + stanza.Since + "`); if nobody has it any more, have a person name another commit there",
			Err:     err,
		}
	}
	if has, err := src.hasLanded(ctx, stanza.Since, landed); err != nil || !has {
		if err != nil {
			return err
		}
		return &failure.Error{
			Message: fmt.Sprintf("line %d of %s: the commit since which the log is judged has not landed: %s is no ancestor of the commit that names it", stanza.Pos.Line, src.Policy.Source, stanza.Since),
			Remedy:  "merge it first, under a configuration that does not name it; or have a person name a commit that has landed",
		}
	}
	src.sinceChecked[stanza.Since] = true
	return nil
}

// hasLanded reports whether the trusted side contains a commit, or a commit that more returns contains it. If the configuration is not in the
// repository, no commit can vouch for it, and the answer is true.
func (src *Source) hasLanded(ctx context.Context, commit string, more func(context.Context) ([]string, error)) (bool, error) {
	if src.Trusted == "" || src.Policy.OutsideRepo {
		return true, nil
	}
	in := func(tip string) (bool, error) {
		if tip == "" {
			return false, nil
		}
		bases, err := src.History.MergeBases(ctx, commit, tip)
		return slices.Contains(bases, commit), err
	}
	if has, err := in(src.Trusted); has || err != nil {
		return has, err
	}
	others, err := more(ctx)
	for _, tip := range others {
		if has, err := in(tip); has || err != nil {
			return has, err
		}
	}
	return false, err
}

// AcceptSince adds to equal what the log's since commit accepts on the edge from one parent. It does so if the parent does not contain the since
// commit and the child takes over more of the accepted history than the parent has. The entries that the log held in that history then count on
// neither side, except for the parent's entries that are still in all logs that are taken over. The branch's own edits are not accepted.
//
// child is the child, or its parents. It takes over the accepted commits that it contains. A squash leaves no ancestor: it takes over the since
// commit if its log has all entries of the log there, and the parent's log lacks some.
func (src *Source) AcceptSince(ctx context.Context, equal ledger.Equivalence, parent string, child []string, from, to string, before, after *LedgerFile) (ledger.Equivalence, error) {
	stanza := src.Policy.LogFor(to)
	if stanza == nil || stanza.Since == "" || after.Readable() && after.Log.Extends(before.Log.Ledger) {
		return equal, nil
	}
	var older []string
	if parent != "" {
		var err error
		if older, err = src.History.MergeBases(ctx, parent, stanza.Since); err != nil || slices.Contains(older, stanza.Since) {
			return equal, err
		}
	}
	taken, err := src.findTakenOver(ctx, stanza.Since, older, child)
	if err != nil {
		return equal, err
	}
	squashed := len(taken) == 0
	if squashed {
		taken = []string{stanza.Since}
	}
	kept := map[small.Digest]bool{} // the parent's entries that are also in the log of each commit that is taken over
	for _, e := range before.Log.Entries {
		kept[equal.Class(e.Digest)] = true
	}
	for _, commit := range taken {
		then, err := src.LogAt(ctx, commit, to)
		if err != nil || squashed && !tookOverAll(before, after, then, equal) {
			return equal, err
		}
		there := map[small.Digest]bool{}
		if then.Readable() {
			for _, e := range then.Log.Entries {
				there[equal.Class(e.Digest)] = true
			}
		}
		maps.DeleteFunc(kept, func(d small.Digest, _ bool) bool { return !there[d] })
	}
	past, err := src.acceptedBySince(ctx, stanza, from)
	if err != nil {
		return equal, err
	}
	accepted := maps.Clone(past.entries)
	maps.DeleteFunc(accepted, func(d small.Digest, _ bool) bool { return kept[equal.Class(d)] })
	return equal.Accepting(accepted), nil
}

// findTakenOver returns the merge bases of the child with the since commit that its parent does not contain: up to these, the child has the history
// that the since commit accepts. older are the parent's merge bases with the since commit.
func (src *Source) findTakenOver(ctx context.Context, since string, older, child []string) (taken []string, err error) {
	for _, id := range child {
		bases, err := src.History.MergeBases(ctx, id, since)
		if err != nil {
			return nil, err
		}
		for _, base := range bases {
			within := slices.Contains(older, base)
			for i := 0; i < len(older) && !within; i++ {
				shared, err := src.History.MergeBases(ctx, base, older[i])
				if err != nil {
					return nil, err
				}
				within = slices.Contains(shared, base)
			}
			if !within && !slices.Contains(taken, base) {
				taken = append(taken, base)
			}
		}
	}
	return taken, nil
}

// tookOverAll reports whether the log after an edge has all entries that the log had then, in the since commit, and the log before lacks some.
func tookOverAll(before, after, then *LedgerFile, equal ledger.Equivalence) bool {
	if then == nil || !then.Readable() || after == nil || !after.Readable() {
		return false
	}
	return len(ledger.Only(then.Log.Ledger, before.Log.Ledger, equal)) > 0 && len(ledger.Only(then.Log.Ledger, after.Log.Ledger, equal)) == 0
}

// BeforeSince returns the entries that a log had in its since commit and that commit's ancestors, or nil if a commit contains the since commit.
// A commit that does not may still have entries that the target has lost. tips are the commit, or its parents.
func (src *Source) BeforeSince(ctx context.Context, stanza *policy.Log, tips []string, path string) (map[small.Digest]bool, error) {
	if stanza.Since == "" {
		return nil, nil
	}
	for _, tip := range tips {
		if bases, err := src.History.MergeBases(ctx, tip, stanza.Since); err != nil || slices.Contains(bases, stanza.Since) {
			return nil, err
		}
	}
	past, err := src.acceptedBySince(ctx, stanza, path)
	if err != nil {
		return nil, err
	}
	return past.entries, nil
}

// IsBeforeSince reports whether a commit is a log's since commit, or an ancestor of it.
func (src *Source) IsBeforeSince(ctx context.Context, commit, path string) (bool, error) {
	stanza := src.Policy.LogFor(path)
	if stanza == nil || stanza.Since == "" {
		return false, nil
	}
	past, err := src.acceptedBySince(ctx, stanza, "")
	return err == nil && past.commits[commit], err
}

// acceptedBySince returns what a stanza's since commit accepts: the commit and its ancestors and, unless path is empty, all entries that the log at
// the path had in them.
func (src *Source) acceptedBySince(ctx context.Context, stanza *policy.Log, path string) (*acceptedHistory, error) {
	key := stanza.Since + "\x00" + path
	if known := src.sinceHistories[key]; known != nil {
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
	src.sinceHistories[key] = p
	return p, nil
}
