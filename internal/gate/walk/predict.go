package walk

import (
	"context"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/wording"
)

// CompareSides compares, to predict a merge, what each side did since the two parted.
func CompareSides(ctx context.Context, r *run.Run) error {
	bases, err := r.Source.History.MergeBases(ctx, r.Scope.Base.ID, r.Scope.Tip.ID)
	if err != nil {
		return err
	}
	for _, side := range []history.Tip{r.Scope.Base, r.Scope.Tip} {
		for _, base := range bases {
			if err := (walker{r}).sinceParting(ctx, base, side); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r walker) sinceParting(ctx context.Context, base string, side history.Tip) error {
	if base == side.ID {
		return nil
	}
	changes, err := r.Source.Changes(ctx, []history.Edge{{Parent: base, Child: side.ID}})
	if err != nil {
		return err
	}
	s, err := r.Source.Replacement(ctx, history.Commit{ID: side.ID, Parents: []string{base}}, changes, nil)
	if err != nil {
		return err
	}
	s.Branch = side.Name
	for _, c := range changes[0] {
		if !r.Source.IsLog(c.Path) || c.Old.Mode == "" {
			continue
		}
		s.Fix = func(string) string {
			return "before merging, restore on that side the entries that both had (" +
				wording.Commands("git show "+wording.ShellWord(history.Short(base)+":"+c.Path)) + " shows them), and append new ones after them"
		}
		if err := r.replacedLog(ctx, c, s, true, nil); err != nil {
			return err
		}
	}
	return nil
}

// toMerge names the branch to merge: a range is judged while on its head, a prediction while on the first of the
// two.
func (r walker) toMerge(target, head history.Tip) string {
	if !r.Scope.Predicts {
		return target.Name
	}
	name := head.Name
	if strings.HasPrefix(name, "HEAD") || strings.HasPrefix(name, "@") {
		name = history.Short(head.ID) // HEAD is another commit where one stands on the other branch
	}
	return name
}
