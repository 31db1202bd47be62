package walk

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
)

// CompareTips compares the logs of the base and the tip, as of two branches.
func CompareTips(ctx context.Context, r *run.Run) error {
	return walker{r}.compare(ctx, r.Scope.Base, r.Scope.Tip)
}

// CompareFork is Tips, unless one of the two descends from the other.
func CompareFork(ctx context.Context, r *run.Run) error {
	base, tip := r.Scope.Base, r.Scope.Tip
	bases, err := r.Source.History.MergeBases(ctx, base.ID, tip.ID)
	if err != nil || slices.Contains(bases, base.ID) || slices.Contains(bases, tip.ID) {
		return err
	}
	return walker{r}.compare(ctx, base, tip)
}

func (r walker) compare(ctx context.Context, target, head history.Tip) error {
	edge := history.Edge{Parent: target.ID, Child: head.ID}
	changes, err := r.Source.Changes(ctx, []history.Edge{edge})
	if err != nil {
		return err
	}
	pairs, err := r.Source.Pairs(ctx, target.ID, head.ID, changes[0])
	if err != nil {
		return err
	}
	for _, p := range pairs {
		t, err := r.tipsOf(ctx, p, edge)
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		t.Place = rule.Place{Commit: head.ID, Parent: target.ID}
		t.TargetName, t.HeadName, t.Switches = target.Name, head.Name, r.Source.IsRecord(t.Path)
		t.Merge = r.toMerge(target, head)
		r.Collector.Judge(t)
	}
	return r.fork(ctx, target, head, changes[0])
}

// walkedBetween reports whether the head descends from the target and every commit on the way was judged: then the
// edges have said what became of the target's entries. It is asked of two tips that differ by more than an append.
func (r walker) walkedBetween(ctx context.Context, t *subject.LogTips, edge history.Edge) (bool, error) {
	if t.Outcome == ledger.Linear || !r.Scope.Walked || r.Scope.UnrelatedLog {
		return false, nil
	}
	bases, err := r.Source.History.MergeBases(ctx, edge.Parent, edge.Child)
	return slices.Contains(bases, edge.Parent), err
}
