package read

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// CheckSince fails if a log's since commit cannot be read or has not landed. A log is judged only after its since commit, so that a commit that
// has not landed would let somebody accept a rewrite before it is merged. The trusted side, or one of the commits that otherTips returns, must contain
// the since commit.
func (src *Source) CheckSince(ctx context.Context, stanza *policy.Log, otherTips func(context.Context) ([]string, error)) error {
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
	if has, err := src.hasLanded(ctx, stanza.Since, otherTips); err != nil || !has {
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

// hasLanded reports whether the trusted side, or one of the commits that otherTips returns, contains a commit. If the configuration is not in the
// repository, no commit can vouch for it, and the answer is true.
func (src *Source) hasLanded(ctx context.Context, commit string, otherTips func(context.Context) ([]string, error)) (bool, error) {
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
	others, err := otherTips(ctx)
	for _, tip := range others {
		if has, err := in(tip); has || err != nil {
			return has, err
		}
	}
	return false, err
}

// AcceptSince adds to equal what the log's since commit accepts on the edge from one parent. The since commit and its ancestors are the accepted
// history. If the parent does not contain the since commit, and the child contains more of the accepted history than the parent, the entries that the
// log had in the accepted history count neither in before nor in after. An entry of before still counts if the log has it in each commit that
// the child takes over (see findTakenOver). The branch's own edits are not accepted.
//
// child holds the child's id or, if the child is not committed yet, the ids of its parents. A squash of the target has none of the accepted history
// among its ancestors. It takes over the since commit if after has all entries of the since commit's log, and before lacks some of these.
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
	kept := map[small.Digest]bool{} // the entries of before that the log has in each commit of taken
	for _, e := range before.Log.Entries {
		kept[equal.Class(e.Digest)] = true
	}
	for _, commit := range taken {
		log, err := src.logBeforeMove(ctx, commit, from, to)
		if err != nil || squashed && !tookOverAll(before, after, log, equal) {
			return equal, err
		}
		has := map[small.Digest]bool{}
		if log.Readable() {
			for _, e := range log.Log.Entries {
				has[equal.Class(e.Digest)] = true
			}
		}
		maps.DeleteFunc(kept, func(d small.Digest, _ bool) bool { return !has[d] })
	}
	past, err := src.acceptedBySince(ctx, stanza, from)
	if err != nil {
		return equal, err
	}
	accepted := maps.Clone(past.entries)
	maps.DeleteFunc(accepted, func(d small.Digest, _ bool) bool { return kept[equal.Class(d)] })
	return equal.Accepting(accepted), nil
}

// logBeforeMove reads a log in a commit: at the path to or, if the commit has no file there because the log moved later, at the path from.
func (src *Source) logBeforeMove(ctx context.Context, commit, from, to string) (*LedgerFile, error) {
	log, err := src.LogAt(ctx, commit, to)
	if err != nil || log != nil || from == to {
		return log, err
	}
	return src.LogAt(ctx, commit, from)
}

// addMovesSince adds to out the logs that were rewritten in the history that their since commit accepts, and then moved. A branch that began before
// the rewrite has the old log at the old path.
func (src *Source) addMovesSince(ctx context.Context, x moveSearch, removed []removedLog, added []*LedgerFile, out moves) error {
	removed = slices.DeleteFunc(slices.Clone(removed), func(d removedLog) bool {
		stanza := src.Policy.LogFor(d.path)
		if _, moved := out[d.path]; moved || stanza == nil || stanza.Since == "" {
			return true
		}
		_, err := src.History.Signature(ctx, stanza.Since)
		return err != nil // CheckSince says why, once the log is judged
	})
	arrived := out.byNewPath()
	added = slices.DeleteFunc(slices.Clone(added), func(l *LedgerFile) bool { return arrived[l.File.Path] != nil })
	if len(removed) == 0 || len(added) == 0 {
		return nil
	}
	x.acceptsSince = true
	equalOn := x.equal
	x.equal = func(from, to string, before, after *LedgerFile) (ledger.Equivalence, error) {
		equal, err := equalOn(from, to, before, after)
		if err != nil {
			return equal, err
		}
		accepting, err := src.AcceptSince(ctx, equal, x.parent, history.CommitOrParents(x.child, x.parents), from, to, before, after)
		if !slices.ContainsFunc(before.Log.Entries, func(e ledger.Entry) bool { return !accepting.Accepted[e.Digest] }) {
			return equal, err // any log would continue one of which no entry counts
		}
		return accepting, err
	}
	moved, err := src.matchLogs(x, removed, added)
	maps.Copy(out, moved)
	return err
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

// tookOverAll reports whether the log after an edge has all entries of atSince, the log in the since commit, and the log before the edge lacks some.
func tookOverAll(before, after, atSince *LedgerFile, equal ledger.Equivalence) bool {
	if !atSince.Readable() || !after.Readable() {
		return false
	}
	lacks := equal
	lacks.Dropped = nil // that an entry may be deleted does not mean that before had it
	return len(ledger.Only(atSince.Log.Ledger, before.Log.Ledger, lacks)) > 0 && len(ledger.Only(atSince.Log.Ledger, after.Log.Ledger, equal)) == 0
}

// EntriesBeforeSince returns the entries that a log had in its since commit and that commit's ancestors. It returns nil if one of tips contains the since
// commit: only a commit without it may still have entries that the target has lost. tips holds the commit or, if it is not made yet, its parents.
func (src *Source) EntriesBeforeSince(ctx context.Context, stanza *policy.Log, tips []string, path string) (map[small.Digest]bool, error) {
	if lacks, err := src.lacksSince(ctx, stanza, tips); err != nil || !lacks {
		return nil, err
	}
	past, err := src.acceptedBySince(ctx, stanza, path)
	if err != nil {
		return nil, err
	}
	return past.entries, nil
}

// lacksSince reports whether a log has a since commit that none of tips contains.
func (src *Source) lacksSince(ctx context.Context, stanza *policy.Log, tips []string) (bool, error) {
	if stanza.Since == "" {
		return false, nil
	}
	for _, tip := range tips {
		if bases, err := src.History.MergeBases(ctx, tip, stanza.Since); err != nil || slices.Contains(bases, stanza.Since) {
			return false, err
		}
	}
	return true, nil
}

// AcceptedLogs returns the logs that a commit may copy as it may copy its parents' logs: the beginning of its own log if a baseline accepts that, and
// the log in the since commit, which a squash does not contain. tips holds the commit or, if it is not made yet, its parents.
func (src *Source) AcceptedLogs(ctx context.Context, stanza *policy.Log, tips []string, path string, own *LedgerFile) (logs []*ledger.Ledger, err error) {
	n, err := src.countAccepted(ctx, path, own.Log.Ledger)
	if err != nil {
		return nil, err
	}
	logs = append(logs, own.Log.FirstEntries(n))
	if lacks, err := src.lacksSince(ctx, stanza, tips); err != nil || !lacks {
		return logs, err
	}
	atSince, err := src.LogAt(ctx, stanza.Since, path)
	if atSince.Readable() {
		logs = append(logs, atSince.Log.Ledger)
	}
	return logs, err
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
