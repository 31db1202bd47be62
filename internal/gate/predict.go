package gate

import (
	"context"
	"fmt"
	"strings"
)

// compareSides compares, for the prediction of a merge, what each side did since the
// two parted.
func compareSides(r *run, ctx context.Context) error {
	bases, err := r.src.history.MergeBases(ctx, r.scope.base.ID, r.scope.tip.ID)
	if err != nil {
		return err
	}
	for _, side := range []Tip{r.scope.base, r.scope.tip} {
		for _, base := range bases {
			if err := (walker{r}).sinceParting(ctx, base, side); err != nil {
				return err
			}
		}
	}
	return nil
}

// sinceParting compares the logs of a merge base with those of one side.
func (r walker) sinceParting(ctx context.Context, base string, side Tip) error {
	if base == side.ID {
		return nil
	}
	changes, err := r.src.history.Changes(ctx, []Edge{{Parent: base, Child: side.ID}})
	if err != nil {
		return err
	}
	s, err := r.src.replacement(ctx, Commit{ID: side.ID, Parents: []string{base}}, changes, nil)
	if err != nil {
		return err
	}
	s.branch = side.Name
	for _, c := range changes[0] {
		if !r.src.isLog(c.Path) || c.Old.Mode == "" {
			continue
		}
		s.remedies = sameRemedy(fmt.Sprintf("before any merge, put back on %s what is there in %s (git show %s shows it), and append what is new after it",
			side.Name, short(base), shellQuote(short(base)+":"+c.Path)))
		if err := r.replacedLog(ctx, c, s, true, nil); err != nil {
			return err
		}
	}
	return nil
}

// toMerge says which branch is to be merged: of a range one stands on the head,
// of a prediction on the first of the two.
func (r walker) toMerge(target, head Tip) string {
	if !r.scope.predicts {
		return "git merge " + shellQuote(target.Name)
	}
	name := head.Name
	if strings.HasPrefix(name, "HEAD") || strings.HasPrefix(name, "@") {
		name = short(head.ID) // HEAD is another commit where one stands on the other branch
	}
	return "git merge " + shellQuote(name)
}
