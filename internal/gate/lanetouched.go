package gate

import (
	"context"
	"slices"
	"strings"
)

// touchedFiles lists what differs from where a change began, as far as it is
// wanted, in order of path. Of several merge bases with a target it is what differs
// from one of them and from the target: so what a merge brought along is not the
// change's own, and what it threw away is. Without a target, as in the index of a
// merge, it is what differs from every parent.
func (j *judgement) touchedFiles(ctx context.Context, change laneChange, wanted func(path string) bool) ([]Change, error) {
	edges := EdgesOf(change.head, change.bases)
	often := len(edges)
	if often > 1 && change.target != "" {
		edges, often = append(edges, Edge{Parent: change.target, Child: change.head}), 1
	}
	times := map[string]int{}
	var out []Change
	for i, edge := range edges {
		changes, err := j.history.Difference(ctx, edge)
		if err != nil {
			return nil, err
		}
		last := i == len(edges)-1
		for _, c := range changes {
			if wanted(c.Path) && last && times[c.Path] >= min(often, i) {
				out = append(out, c)
			}
			times[c.Path]++
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}
