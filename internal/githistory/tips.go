package githistory

import (
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gitcmd"
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

// Peel follows an object to the commit that it is or that it tags; commit is empty
// if it leads to none. here is false for an object that is not in the repository;
// nothing is fetched for it.
func (r *Repo) Peel(ctx context.Context, id string) (commit string, here bool, err error) {
	if err := r.format.check(id); err != nil {
		return "", false, err
	}
	question := id + "\n" + id + "^{}\n"
	args := []string{"--no-lazy-fetch", "cat-file", "--batch-check=%(objectname) %(objecttype)"}
	out, err := r.git.Output(ctx, strings.NewReader(question), args...)
	if gitcmd.ExitedWith(err, 129) {
		// A git that does not know the option yet (before 2.44).
		out, err = r.git.Output(ctx, strings.NewReader(question), args[1:]...)
	}
	if err != nil {
		return "", false, r.failure("cannot look for "+id, err)
	}
	own, peeled, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	if own == id+" missing" {
		return "", false, nil
	}
	switch commit, kind, _ := strings.Cut(peeled, " "); kind {
	case "commit":
		return commit, true, r.format.check(commit)
	case "tree", "blob":
		return "", true, nil
	}
	return "", true, r.missing(ctx, id, "")
}
