package read

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
)

// Pairs are the logs in which two tips differ: the target's and the head's. A log that moved on one branch is
// paired with the other branch's, wherever that is.
func (src *Source) Pairs(ctx context.Context, target, head string, changes []history.Change) ([][2]history.File, error) {
	var out [][2]history.File
	missing := false
	at := map[string]history.Change{}
	for _, c := range changes {
		if !src.IsLog(c.Path) {
			continue
		}
		at[c.Path] = c
		if c.Old.Mode == "" || c.New.Mode == "" {
			missing = true
			continue
		}
		out = append(out, [2]history.File{c.Old, c.New})
	}
	if !missing {
		return out, nil
	}
	bases, err := src.History.MergeBases(ctx, target, head)
	if err != nil {
		return nil, err
	}
	for _, base := range bases {
		var went [2]moves
		for i, tip := range []string{target, head} {
			if went[i], err = src.MovesBetween(ctx, base, tip); err != nil {
				return nil, err
			}
		}
		all := moves{}
		maps.Copy(all, went[0])
		maps.Copy(all, went[1])
		for _, path := range slices.Sorted(maps.Keys(all)) {
			ours, moved := went[0][path]
			theirs, movedToo := went[1][path]
			if !moved {
				ours = at[path].Old
			}
			if !movedToo {
				theirs = at[path].New
			}
			if pair := [2]history.File{ours, theirs}; ours.Mode != "" && theirs.Mode != "" && !slices.Contains(out, pair) {
				out = append(out, pair)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b [2]history.File) int { return strings.Compare(a[1].Path, b[1].Path) })
	return out, nil
}

// MovesBetween finds the logs that moved between a commit and a later one.
func (src *Source) MovesBetween(ctx context.Context, from, to string) (moves, error) {
	changes, err := src.Changes(ctx, []history.Edge{{Parent: from, Child: to}})
	if err != nil {
		return nil, err
	}
	return src.moves(ctx, moveSearch{parent: from, changes: changes[0], merge: true, equal: func(from, to string, before, after *LedgerFile) (ledger.Equivalence, error) {
		return src.EquivalenceOn(ctx, nil, from, to, before, after)
	}})
}
