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

// CheckSince fails if a log's since commit, after which it is judged, cannot be read, or has not landed: then somebody could accept a rewrite
// before it is merged. It has landed if the trusted side has it, or one of the commits that landed gives.
func (src *Source) CheckSince(ctx context.Context, stanza *policy.Log, landed func(context.Context) ([]string, error)) error {
	if src.History == nil || src.since[stanza.Since] {
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
	src.since[stanza.Since] = true
	return nil
}

// hasLanded reports whether the trusted side has a commit, or one of those that more gives has it. A configuration that is no file of the
// repository has no commit that could have it.
func (src *Source) hasLanded(ctx context.Context, commit string, more func(context.Context) ([]string, error)) (bool, error) {
	if src.Trusted == "" || src.Policy.Elsewhere {
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

// AcceptSince is what counts as equal on a log's edge from one parent: if the parent does not contain the log's since commit, but the child
// takes over more of what that commit accepts, what the log held there counts on neither side, except for what is still in the log that is taken
// over. child is the child, or its parents: it takes over what it contains, and what a squash brings, which leaves no ancestor: all that the log
// has in the since commit, of which the parent lacks something. Edits of the branch's own are not accepted.
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
	taken, err := src.takenOver(ctx, stanza.Since, older, child)
	if err != nil {
		return equal, err
	}
	squashed := len(taken) == 0
	if squashed {
		taken = []string{stanza.Since}
	}
	kept := map[small.Digest]bool{} // entries that the parent has, and all that is taken over
	for _, e := range before.Log.Entries {
		kept[equal.Class(e.Digest)] = true
	}
	for _, commit := range taken {
		then, err := src.LogAt(ctx, commit, to)
		if err != nil || squashed && !squashes(before, after, then, equal) {
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
	past, err := src.pastOf(ctx, stanza, from)
	if err != nil {
		return equal, err
	}
	accepted := maps.Clone(past.entries)
	maps.DeleteFunc(accepted, func(d small.Digest, _ bool) bool { return kept[equal.Class(d)] })
	return equal.Without(accepted), nil
}

// takenOver are the commits, since or its ancestors, up to which a child contains what the since commit accepts, where that is more than its
// parent contains. older are the parent's merge bases with since.
func (src *Source) takenOver(ctx context.Context, since string, older, child []string) (taken []string, err error) {
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

// squashes reports whether a log took over all entries of the log at a since commit, of which it lacked some before.
func squashes(before, after, then *LedgerFile, equal ledger.Equivalence) bool {
	if then == nil || !then.Readable() || after == nil || !after.Readable() {
		return false
	}
	return len(ledger.Only(then.Log.Ledger, before.Log.Ledger, equal)) > 0 && len(ledger.Only(then.Log.Ledger, after.Log.Ledger, equal)) == 0
}

// BeforeSince are the entries that a log held in its since commit and that commit's ancestors, if a commit does not contain them all: the target
// may lack what the commit still has. Else it is nil. tips are the commit, or its parents.
func (src *Source) BeforeSince(ctx context.Context, stanza *policy.Log, tips []string, path string) (map[small.Digest]bool, error) {
	if stanza.Since == "" {
		return nil, nil
	}
	for _, tip := range tips {
		if bases, err := src.History.MergeBases(ctx, tip, stanza.Since); err != nil || slices.Contains(bases, stanza.Since) {
			return nil, err
		}
	}
	past, err := src.pastOf(ctx, stanza, path)
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
