package githistory

import (
	"context"
	"slices"
	"strings"
)

// Tips lists commits as [Refs] says.
func (r *Repo) Tips(ctx context.Context, prefixes ...string) ([]string, error) {
	out, err := r.forEachRef(ctx, append([]string{"--format=%(objecttype) %(objectname) %(*objecttype) %(*objectname)", "--"}, prefixes...)...)
	if err != nil {
		return nil, r.toFailure("cannot list refs", err)
	}
	var tips []string
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		kind, id := fields[len(fields)-2], fields[len(fields)-1]
		if kind == "tag" { // a tag of a tag; git follows only the first one before 2.45
			kind = "commit"
			if id, _, err = r.Peel(ctx, id); err != nil {
				return nil, err
			}
		}
		if kind == "commit" && r.format.Valid(id) {
			tips = append(tips, id)
		}
	}
	slices.Sort(tips)
	return slices.Compact(tips), nil
}

// Peel follows tags from an object to a commit; commit is empty if they lead to none. found is false if the object is not in the repository. Peel
// fetches nothing, unless git is older than 2.44 and the clone partial.
func (r *Repo) Peel(ctx context.Context, id string) (commit string, found bool, err error) {
	if err := r.format.Check(id); err != nil {
		return "", false, err
	}
	git := r.git
	git.Environ = append(slices.Clip(git.Environ), "GIT_NO_LAZY_FETCH=1")
	question := id + "\n" + id + "^{}\n"
	out, err := git.Output(ctx, strings.NewReader(question), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return "", false, r.toFailure("cannot look for "+id, err)
	}
	own, peeled, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	if own == id+" missing" {
		return "", false, nil
	}
	switch commit, kind, _ := strings.Cut(peeled, " "); kind {
	case "commit":
		return commit, true, r.format.Check(commit)
	case "tree", "blob":
		return "", true, nil
	}
	return "", true, r.missingError(ctx, id, "")
}
