package embedded

import (
	"context"

	"github.com/small-gate/small-gate/internal/githistory"
)

// ReplaceRefs reports whether the repository has replace refs. They are never
// followed here; a report says that the judgement is of the real objects.
func (r *Repo) ReplaceRefs(context.Context) (bool, error) {
	base := r.env.Get("GIT_REPLACE_REF_BASE")
	if base == "" {
		base = "refs/replace/"
	}
	names, err := (&refs{repo: r}).list([]string{base})
	return len(names) > 0, cannot("cannot look for replace refs", err)
}

// Grafts reports whether the repository has a file that gives commits other
// parents. It is never followed here.
func (r *Repo) Grafts() (bool, error) {
	found, err := githistory.HasGrafts(r.CommonDir, r.env.Get("GIT_GRAFT_FILE"))
	return found, cannot("cannot read the file of grafts", err)
}
