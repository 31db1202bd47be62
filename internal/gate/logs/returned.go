package logs

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
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

// Returned is an entry that an approved rewrite of its log removed, and that a later commit brings again.
type Returned struct {
	rule.Place
	Run   *run.Run
	Path  string
	Entry ledger.Entry
}

// judgeReturned finds entries that a commit adds although an approved rewrite, which is behind one of its parents, removed them. It returns
// their digests. approved are the parents' logs as such rewrites on the commit's own edges, the views, let them become.
func judgeReturned(ctx context.Context, r *run.Run, s *read.Step, path string, child *read.LedgerFile, parents, approved []read.ParentLog, views []*LogChange) (map[small.Digest]bool, error) {
	out := map[small.Digest]bool{}
	equal := r.Source.Waived(path, path)
	for _, x := range equal.Rewrites {
		done := func(l *read.LedgerFile) bool { return x.Done(l.Log.Ledger) }
		if x.Unordered || !slices.ContainsFunc(approved, func(p read.ParentLog) bool { return slices.ContainsFunc(p.Ledgers, done) }) {
			continue
		}
		if err := r.Source.FindEarlier(ctx, s.Parents, path, equal, x); err != nil {
			return nil, err
		}
	}
	for _, x := range equal.Rewrites {
		here := slices.ContainsFunc(views, func(e *LogChange) bool {
			return e.Approved != nil && e.Approved.From == x.From && e.Approved.To == x.To
		})
		others, err := behindRewrite(ctx, r, s, path, parents, approved, equal, x, here)
		if err != nil || others == nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		for _, e := range x.Returned(child.Log.Ledger, others) {
			out[e.Digest] = true
			found := &Returned{Place: rule.Place{Commit: s.ID, Parent: s.Parents[0]}, Run: r, Path: path, Entry: e}
			if err := r.Collector.Judge(ctx, found); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// behindRewrite are the logs of a commit's parents, each without what a rewrite removed; nil if the rewrite is behind none of them, and not
// made here.
func behindRewrite(ctx context.Context, r *run.Run, s *read.Step, path string, parents, approved []read.ParentLog, equal ledger.Equivalence, x *ledger.Rewrite, here bool) ([]*ledger.Ledger, error) {
	var others []*ledger.Ledger
	for i, p := range parents {
		for k, l := range approved[i].Ledgers {
			others = append(others, l.Log.Ledger)
			if before := p.Ledgers[k].Log.Ledger; !here {
				var err error
				if here, err = r.Source.WasRewritten(ctx, p.ID, path, before, equal, x); err != nil {
					return nil, err
				}
			}
		}
	}
	if !here {
		return nil, nil
	}
	if err := r.Source.FindBefore(ctx, s.Parents, path, x); err != nil {
		return nil, err
	}
	for i, l := range others {
		if !equal.Done(x, l) {
			others[i] = x.Besides(l)
		}
	}
	return others, nil
}
