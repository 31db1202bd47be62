package gate

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// pairs are the logs in which two tips differ: the target's and the head's. One
// that moved on a branch since the two parted is paired with the other branch's,
// wherever that is.
func (src *source) pairs(ctx context.Context, target, head string, changes []Change) ([][2]File, error) {
	var out [][2]File
	missing := false
	at := map[string]Change{}
	for _, c := range changes {
		if !src.isLog(c.Path) {
			continue
		}
		at[c.Path] = c
		if c.Old.Mode == "" || c.New.Mode == "" {
			missing = true
			continue
		}
		out = append(out, [2]File{c.Old, c.New})
	}
	if !missing {
		return out, nil
	}
	bases, err := src.history.MergeBases(ctx, target, head)
	if err != nil {
		return nil, err
	}
	for _, base := range bases {
		var went [2]moves
		for i, tip := range []string{target, head} {
			if went[i], err = src.movesBetween(ctx, base, tip); err != nil {
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
			if pair := [2]File{ours, theirs}; ours.Mode != "" && theirs.Mode != "" && !slices.Contains(out, pair) {
				out = append(out, pair)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b [2]File) int { return strings.Compare(a[1].Path, b[1].Path) })
	return out, nil
}

// movesBetween finds the workspaces that moved between a commit and a later one.
func (src *source) movesBetween(ctx context.Context, from, to string) (moves, error) {
	changes, err := src.history.Changes(ctx, []Edge{{Parent: from, Child: to}})
	if err != nil {
		return nil, err
	}
	return src.moves(ctx, crossing{parent: from, changes: changes[0], merge: true, equal: func(from, to string, before, after *ledgerFile) (equivalence, error) {
		return src.equality(ctx, nil, from, to, before, after)
	}})
}

// tipsOf compares one log of two tips. It returns nil where there is nothing to
// say.
func (r walker) tipsOf(ctx context.Context, pair [2]File, edge Edge) (*LogTips, error) {
	path := pair[1].Path
	logs := r.src.logs(path)
	ours, err := logs.read(ctx, pair[0], nil)
	if err != nil {
		return nil, err
	}
	theirs, err := logs.read(ctx, pair[1], ours)
	if err != nil {
		return nil, err
	}
	if !ours.readable() || !theirs.readable() {
		return nil, nil // a log that is gone or cannot be read is found on an edge
	}
	equal := r.src.equal(pair[0].Path, path)
	own, err := r.src.equality(ctx, nil, path, pair[0].Path, theirs, ours)
	if err != nil {
		return nil, err
	}
	if own.past != nil && len(only(theirs.log.Ledger, ours.log.Ledger, own)) == 0 {
		return nil, nil // the head parted before the target's baseline, and has nothing of its own
	}
	t := &LogTips{path: path, divergence: diverge(ours.log.Ledger, theirs.log.Ledger, equal, r.out.explained(path, false))}
	if inLine, err := r.walkedBetween(ctx, t, edge); err != nil || inLine {
		return nil, err
	}
	if r.scope.predicts && t.withoutEdited(r.out.explained(path, true), equal) {
		return nil, nil
	}
	return t, nil
}
