package logs

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// approvedOld is the parent's log as an approved rewrite let it become: without one, as it is.
func (e *LogChange) approvedOld(before *read.LedgerFile) *read.LedgerFile {
	if e.Approved == nil {
		return before
	}
	return &read.LedgerFile{File: before.File, Log: &ledger.Log{Ledger: e.Old}}
}

// judgeAllowed has the edits of an approved rewrite judged, so that the report lists them as waived. What the commit does besides is judged on
// the edge itself.
func judgeAllowed(ctx context.Context, r *run.Run, e *LogChange) error {
	x := e.allowed
	x.Run, x.Place, x.Fix, x.Merge, x.Side = r, e.Place, e.Fix, e.Merge, e.Side
	x.Allowed, x.From, x.To = e.OldPath, e.Approved.From, e.Approved.To
	own := map[small.Digest]bool{}
	for _, edit := range e.Edits {
		if edit.OldIndex >= 0 {
			own[e.Old.Entries[edit.OldIndex].Digest] = true
		}
	}
	var edits []ledger.Edit
	for _, edit := range x.Edits {
		if !own[x.Old.Entries[edit.OldIndex].Digest] {
			edits = append(edits, edit)
		}
	}
	x.Edits = edits
	x.Inserted = slices.DeleteFunc(x.Inserted, func(index int) bool { return x.KeptOrder || slices.Contains(e.Inserted, index) })
	return r.Collector.Judge(ctx, x)
}

// findReturned finds the entries that the commit adds although an approved rewrite, which is behind one of its parents, removed them.
func (l *CommitLog) findReturned(ctx context.Context) (out []ledger.Entry, err error) {
	src, parents := l.Run.Source, l.Step.Parents
	equal := src.EquivalenceByWaivers(l.Path, l.Path)
	if err := src.CompleteRewrites(ctx, parents, l.Path, equal); err != nil {
		return nil, err
	}
	for _, x := range equal.Rewrites {
		done := func(l *read.LedgerFile) bool { return x.DoneIn(l.Log.Ledger) }
		if x.Unordered || !slices.ContainsFunc(l.Approved, func(p read.ParentLog) bool { return slices.ContainsFunc(p.Ledgers, done) }) {
			continue
		}
		if err := src.FindBeforeInChain(ctx, parents, l.Path, equal, x); err != nil {
			return nil, err
		}
	}
	for _, x := range equal.Rewrites {
		others, err := l.behindRewrite(ctx, equal, x)
		if err != nil {
			return nil, err
		}
		if others != nil {
			out = append(out, x.Returned(l.Child.Log.Ledger, others)...)
		}
	}
	return out, nil
}

// behindRewrite are the logs of the commit's parents, each without what a rewrite removed; nil if the rewrite is behind none of them, and not
// made here.
func (l *CommitLog) behindRewrite(ctx context.Context, equal ledger.Equivalence, x *ledger.Rewrite) ([]*ledger.Ledger, error) {
	here := slices.ContainsFunc(l.edges, func(e *LogChange) bool {
		return e.Approved != nil && e.Approved.From == x.From && e.Approved.To == x.To
	})
	var others []*ledger.Ledger
	for i, p := range l.Parents {
		for k, approved := range l.Approved[i].Ledgers {
			others = append(others, approved.Log.Ledger)
			if before := p.Ledgers[k].Log.Ledger; !here {
				var err error
				if here, err = l.Run.Source.WasRewritten(ctx, p.ID, l.Path, before, equal, x); err != nil {
					return nil, err
				}
			}
		}
	}
	if !here {
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
