package logs

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// parentAfterRewrite returns the parent's log with the edge's approved rewrite applied; without a rewrite, the log as it is.
func (e *LogChange) parentAfterRewrite(before *read.LedgerFile) *read.LedgerFile {
	if e.Approved == nil {
		return before
	}
	return &read.LedgerFile{File: before.File, Log: &ledger.Log{Ledger: e.Old}}
}

// judgeApprovedRewrite judges the edits of an approved rewrite, so that the report lists them as waived. The edits that the commit makes besides
// are judged on the edge itself.
func judgeApprovedRewrite(ctx context.Context, r *run.Run, e *LogChange) error {
	whole := e.withoutApproval
	whole.Run, whole.Place, whole.Fix, whole.IsMerge, whole.Side = r, e.Place, e.Fix, e.IsMerge, e.Side
	whole.Allowed, whole.From, whole.To = e.OldPath, e.Approved.From, e.Approved.To
	own := map[small.Digest]bool{}
	for _, edit := range e.Edits {
		if edit.OldIndex >= 0 {
			own[e.Old.Entries[edit.OldIndex].Digest] = true
		}
	}
	var edits []ledger.Edit
	for _, edit := range whole.Edits {
		if !own[whole.Old.Entries[edit.OldIndex].Digest] {
			edits = append(edits, edit)
		}
	}
	whole.Edits = edits
	whole.Inserted = slices.DeleteFunc(whole.Inserted, func(index int) bool { return whole.KeptOrder || slices.Contains(e.Inserted, index) })
	return r.Collector.Judge(ctx, whole)
}

// findReturned finds the entries that the commit adds although an approved rewrite removed them, in the history of a parent or in this commit.
func (l *CommitLog) findReturned(ctx context.Context) (out []ledger.Entry, err error) {
	src, parents := l.Run.Source, l.Step.Parents
	equal := src.EquivalenceByWaivers(l.Path, l.Path)
	if err := src.CompleteRewrites(ctx, parents, l.Path, equal); err != nil {
		return nil, err
	}
	for _, x := range equal.Rewrites {
		done := func(l *read.LedgerFile) bool { return x.DoneIn(l.Log.Ledger) }
		if x.Unordered || !slices.ContainsFunc(l.ParentsAfterRewrites, func(p read.ParentLog) bool { return slices.ContainsFunc(p.Ledgers, done) }) {
			continue
		}
		if err := src.FindBeforeInChain(ctx, parents, l.Path, equal, x); err != nil {
			return nil, err
		}
	}
	for _, x := range equal.Rewrites {
		others, err := l.logsAfterRewrite(ctx, equal, x)
		if err != nil {
			return nil, err
		}
		if others != nil {
			out = append(out, x.Returned(l.Child.Log.Ledger, others)...)
		}
	}
	return out, nil
}

// logsAfterRewrite returns the logs of the commit's parents. From a log in which the rewrite was not done, the entries that the rewrite started from
// are left out. The result is nil if the rewrite was made neither in the history of a parent nor in this commit.
func (l *CommitLog) logsAfterRewrite(ctx context.Context, equal ledger.Equivalence, x *ledger.Rewrite) ([]*ledger.Ledger, error) {
	rewritten := slices.ContainsFunc(l.edges, func(e *LogChange) bool {
		return e.Approved != nil && e.Approved.From == x.From && e.Approved.To == x.To
	})
	var others []*ledger.Ledger
	for i, p := range l.Parents {
		for k, approved := range l.ParentsAfterRewrites[i].Ledgers {
			others = append(others, approved.Log.Ledger)
			if before := p.Ledgers[k].Log.Ledger; !rewritten {
				var err error
				if rewritten, err = l.Run.Source.WasRewritten(ctx, p.ID, l.Path, before, equal, x); err != nil {
					return nil, err
				}
			}
		}
	}
	if !rewritten {
		return nil, nil
	}
	if err := l.Run.Source.FindBefore(ctx, l.Step.Parents, l.Path, x); err != nil {
		return nil, err
	}
	for i, log := range others {
		if !equal.DoneOrFollowed(x, log) {
			others[i] = x.WithoutBefore(log)
		}
	}
	return others, nil
}
