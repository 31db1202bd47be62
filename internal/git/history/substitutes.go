package githistory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/git/run"
)

// Substitutes reports whether the repository has replace refs, and whether it has a grafts file, which gives commits other parents. Neither
// is ever followed here: a report says that the real objects were judged.
func (r *Repo) Substitutes(ctx context.Context) (replaceRefs, grafts bool, err error) {
	refs, err := r.forEachRef(ctx, "--count=1", "--format=%(refname)", cmp.Or(r.given.Get("GIT_REPLACE_REF_BASE"), "refs/replace/"))
	if err != nil {
		return false, false, r.failure("cannot look for replace refs", err)
	}
	data, err := os.ReadFile(cmp.Or(r.given.Get("GIT_GRAFT_FILE"), filepath.Join(r.CommonDir, "info", "grafts")))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		grafts = grafts || len(line) > 0 && line[0] != '#'
	}
	return refs != "", grafts, r.failure("cannot read the file of grafts", err)
}

// Partial reports whether the clone lacks objects that its remote has.
func (r *Repo) Partial(ctx context.Context) (bool, error) {
	_, err := r.git.Output(ctx, nil, "config", "--get-regexp", promisorConfig)
	if gitcmd.ExitedWith(err, 1) {
		return false, nil
	}
	return err == nil, r.failure("cannot read the configuration", err)
}
