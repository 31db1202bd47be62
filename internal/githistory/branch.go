package githistory

import (
	"context"
	"strings"
)

// CurrentBranch is the full name of the branch that HEAD names, empty for a
// detached HEAD.
func (r *Repo) CurrentBranch(ctx context.Context) (string, error) {
	out, err := r.output(ctx, nil, "symbolic-ref", "-q", "HEAD")
	if exitedWith(err, 1) { // detached
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\n"), r.failure("cannot read HEAD", err)
}
