package githistory

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Tips are the commits at the tips of all refs below the given prefixes
// ("refs/remotes/origin/"), tags followed; without a prefix, of all refs. Refs
// that lead to no commit are left out.
func (r *Repo) Tips(ctx context.Context, prefixes ...string) ([]string, error) {
	out, err := r.forEachRef(ctx, append([]string{"--format=%(objecttype) %(objectname) %(*objecttype) %(*objectname)", "--"}, prefixes...)...)
	if err != nil {
		return nil, r.failure("cannot list refs", err)
	}
	var tips []string
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		for i := 0; i+1 < len(fields); i += 2 {
			if fields[i] == "commit" && r.format.valid(fields[i+1]) {
				tips = append(tips, fields[i+1])
			}
		}
	}
	slices.Sort(tips)
	return slices.Compact(tips), nil
}

// Peel follows an object to the commit that it is or that it tags. ok is false
// for an object that leads to no commit. An object that is not here is an
// error.
func (r *Repo) Peel(ctx context.Context, id string) (commit string, ok bool, err error) {
	if err := r.format.check(id); err != nil {
		return "", false, err
	}
	out, err := r.output(ctx, nil, "cat-file", "-t", id+"^{}")
	if err != nil {
		return "", false, r.missing(ctx, id, "")
	}
	if kind := strings.TrimSpace(string(out)); kind != "commit" {
		return "", false, nil
	}
	out, err = r.output(ctx, nil, "rev-parse", "--verify", "--end-of-options", id+"^{commit}")
	if err != nil {
		return "", false, r.failure(fmt.Sprintf("cannot follow %s to its commit", id), err)
	}
	commit = strings.TrimSpace(string(out))
	return commit, true, r.format.check(commit)
}

// Has reports whether an object is in the repository, without fetching it.
func (r *Repo) Has(ctx context.Context, id string) (bool, error) {
	if err := r.format.check(id); err != nil {
		return false, err
	}
	_, err := r.output(ctx, nil, "--no-lazy-fetch", "cat-file", "-e", id)
	if exitedWith(err, 129) {
		// A git that does not know the option yet (before 2.44).
		_, err = r.output(ctx, nil, "cat-file", "-e", id)
	}
	switch {
	case err == nil:
		return true, nil
	case exitedWith(err, 1):
		return false, nil
	}
	return false, r.failure("cannot look for "+id, err)
}
