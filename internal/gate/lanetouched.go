package gate

import (
	"context"
	"slices"
)

// touchedFiles lists what differs from where a change began, as far as it counts, in
// order of path. Of several merge bases with a target it is what differs from one of
// them and from the target: so what a merge brought along is not the change's own,
// and what it threw away is. Without a target, as in the index of a merge, it is what
// differs from every parent.
func (r lanes) touchedFiles(ctx context.Context, s *LaneChange) ([]Change, error) {
	if s.touched != nil {
		return s.touched, nil
	}
	edges := EdgesOf(s.head, s.bases)
	often := len(edges)
	if often > 1 && s.target != "" {
		edges, often = append(edges, Edge{Parent: s.target, Child: s.head}), 2
	}
	times := map[string]int{}
	var last []Change
	for _, edge := range edges {
		var err error
		if last, err = r.src.history.Difference(ctx, edge); err != nil {
			return nil, err
		}
		for _, c := range last {
			times[c.Path]++
		}
	}
	s.touched = slices.DeleteFunc(last, func(c Change) bool { return times[c.Path] < often || !r.counts(c.Path) })
	return s.touched, nil
}
