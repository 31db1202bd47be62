package lanes

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/subject"
)

// changedFiles lists what counts of what differs from where a change began, in order of path. With several merge
// bases with a target, it is what differs from one of them and from the target: what a merge brought along is then
// not the change's own, and what it threw away is. Without a target, as in the index of a merge, it is what
// differs from every parent.
func (r laneFinder) changedFiles(ctx context.Context, s *subject.LaneChange) ([]history.Change, error) {
	if s.Files != nil {
		return s.Files, nil
	}
	edges := history.EdgesOf(s.Head, s.Bases)
	often := len(edges)
	if often > 1 && s.Target != "" {
		edges, often = append(edges, history.Edge{Parent: s.Target, Child: s.Head}), 2
	}
	changes, err := r.Source.History.Diff(ctx, edges, history.Filter{All: true})
	if err != nil {
		return nil, err
	}
	times := map[string]int{}
	for _, c := range slices.Concat(changes...) {
		times[c.Path]++
	}
	s.Files = slices.DeleteFunc(changes[len(changes)-1], func(c history.Change) bool { return times[c.Path] < often || !r.counts(c.Path) })
	return s.Files, nil
}
