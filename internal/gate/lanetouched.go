package gate

import (
	"context"
	"maps"
	"slices"
)

// touchedFiles lists what differs from where a change began, as far as it is
// wanted, in order of path. Of several bases it is what their merge would be: of a
// file that only some have changed since they parted, theirs is the version that
// counts. So what a merge brought along is not the change's own, and what it
// threw away is.
func (j *judgement) touchedFiles(ctx context.Context, change laneChange, wanted func(path string) bool) ([]Change, error) {
	changes, _, err := j.touchedBetween(ctx, change, wanted)
	return changes, err
}

// touchedBetween is touchedFiles, and for each of several bases what it has
// changed since they parted.
func (j *judgement) touchedBetween(ctx context.Context, change laneChange, wanted func(path string) bool) ([]Change, []map[string]bool, error) {
	edges := EdgesOf(change.head, change.bases)
	differing := make([]map[string]Change, len(edges))
	paths := map[string]bool{}
	for i, edge := range edges {
		changes, err := j.history.Difference(ctx, edge)
		if err != nil {
			return nil, nil, err
		}
		differing[i] = map[string]Change{}
		for _, c := range changes {
			if wanted(c.Path) {
				differing[i][c.Path] = c
				paths[c.Path] = true
			}
		}
	}
	sides, err := j.changedSinceParting(ctx, change.bases)
	if err != nil {
		return nil, nil, err
	}
	var out []Change
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if c, touched := touchedSince(path, differing, sides); touched {
			out = append(out, c)
		}
	}
	return out, sides, nil
}

// touchedSince reports whether a file is in a change as it is in none of the
// bases that count for it: those that have changed it since they parted, or all.
// differing has for each base what differs from it.
func touchedSince(path string, differing []map[string]Change, sides []map[string]bool) (Change, bool) {
	changed := slices.ContainsFunc(sides, func(side map[string]bool) bool { return side[path] })
	var first Change
	for i := len(differing) - 1; i >= 0; i-- {
		if changed && !sides[i][path] {
			continue
		}
		c, touched := differing[i][path]
		if !touched {
			return Change{}, false
		}
		first = c
	}
	return first, true
}

// changedSinceParting lists for each of several commits the files that it has
// changed since it parted from one of the others; none for a single commit.
func (j *judgement) changedSinceParting(ctx context.Context, commits []string) ([]map[string]bool, error) {
	if len(commits) < 2 {
		return nil, nil
	}
	out := make([]map[string]bool, len(commits))
	for i, one := range commits {
		out[i] = map[string]bool{}
		for k, other := range commits {
			if i == k {
				continue
			}
			bases, err := j.history.MergeBases(ctx, one, other)
			if err != nil {
				return nil, err
			}
			if err := j.changedSince(ctx, bases, one, out[i]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// changedSince adds the files that differ between a commit and each of its bases.
func (j *judgement) changedSince(ctx context.Context, bases []string, commit string, into map[string]bool) error {
	edges := EdgesOf(commit, bases)
	times := map[string]int{}
	for _, edge := range edges {
		changes, err := j.history.Difference(ctx, edge)
		if err != nil {
			return err
		}
		for i := range changes {
			if times[changes[i].Path]++; times[changes[i].Path] == len(edges) {
				into[changes[i].Path] = true
			}
		}
	}
	return nil
}
