package gate

import (
	"context"
	"slices"
)

// compareTips compares the logs of the base and the tip, as of two branches.
func compareTips(r *run, ctx context.Context) error {
	return walker{r}.compare(ctx, r.scope.base, r.scope.tip)
}

// compareFork is compareTips, unless one of the two goes on from the other.
func compareFork(r *run, ctx context.Context) error {
	base, tip := r.scope.base, r.scope.tip
	bases, err := r.src.history.MergeBases(ctx, base.ID, tip.ID)
	if err != nil || slices.Contains(bases, base.ID) || slices.Contains(bases, tip.ID) {
		return err
	}
	return walker{r}.compare(ctx, base, tip)
}

// compare compares the logs of two branches.
func (r walker) compare(ctx context.Context, target, head Tip) error {
	edge := Edge{Parent: target.ID, Child: head.ID}
	changes, err := r.src.history.Changes(ctx, []Edge{edge})
	if err != nil {
		return err
	}
	pairs, err := r.src.pairs(ctx, target.ID, head.ID, changes[0])
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
		t.Place = Place{Commit: head.ID, Parent: target.ID}
		t.targetName, t.headName, t.switches = target.Name, head.Name, r.src.isRecord(t.path)
		t.merge = r.toMerge(target, head)
		r.out.judge(t)
	}
	return r.fork(ctx, target, head, changes[0])
}

// walkedBetween reports whether the head descends from the target and every
// commit on the way has been judged: then each edge has said what became of the
// target's entries, and nobody else has written. It is asked of two tips that
// differ in more than an append.
func (r walker) walkedBetween(ctx context.Context, t *LogTips, edge Edge) (bool, error) {
	if t.outcome == inLine || !r.scope.walked || r.scope.tookAnother {
		return false, nil
	}
	bases, err := r.src.history.MergeBases(ctx, edge.Parent, edge.Child)
	return slices.Contains(bases, edge.Parent), err
}
