package walk

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/small"
)

// fork compares two branches from where they parted. changed are the paths in which their tips differ.
func (r walker) fork(ctx context.Context, target, head history.Tip, changed []history.Change) error {
	dirs := map[string]bool{}
	for _, c := range changed {
		if dir, _, ok := small.SplitPath(c.Path); ok && r.Options.Policy.Judges(dir) && c.Old.Mode != "" && c.New.Mode != "" {
			dirs[dir] = true
		}
	}
	if len(dirs) == 0 {
		return nil
	}
	bases, err := r.Source.History.MergeBases(ctx, target.ID, head.ID)
	if err != nil || len(bases) == 0 || slices.Contains(bases, target.ID) || slices.Contains(bases, head.ID) {
		return err
	}
	for _, dir := range run.SortedKeys(dirs) {
		v, err := r.Source.ForkOf(ctx, dir, target.ID, head.ID, bases)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		v.Place = rule.Place{Commit: head.ID, Parent: target.ID}
		v.TargetName, v.HeadName, v.Predicts = target.Name, head.Name, r.Scope.Predicts
		r.Collector.Judge(v)
	}
	return nil
}
