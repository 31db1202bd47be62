package githistory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/gitcmd"
)

// Substitutes reports whether the repository has replace refs, and whether it has a
// file of grafts, which gives commits other parents. Neither is ever followed here:
// a report says that the judgement is of the real objects.
func (r *Repo) Substitutes(ctx context.Context) (replaceRefs, grafts bool, err error) {
	err = r.checkPackedRefs()
	var refs []byte
	if err == nil {
		refs, err = r.git.Output(ctx, nil, "for-each-ref", "--count=1", "--format=%(refname)", ReplaceRefs(r.given))
	}
	if err != nil {
		return false, false, r.failure("cannot look for replace refs", err)
	}
	grafts, err = HasGrafts(r.CommonDir, r.given)
	return len(refs) > 0, grafts, r.failure("cannot read the file of grafts", err)
}

// ReplaceRefs is what the names of replace refs begin with.
func ReplaceRefs(environ gitcmd.Environ) string {
	return cmp.Or(environ.Get("GIT_REPLACE_REF_BASE"), "refs/replace/")
}

// HasGrafts reports whether there is a file of grafts that says anything.
func HasGrafts(commonDir string, environ gitcmd.Environ) (bool, error) {
	name := cmp.Or(environ.Get("GIT_GRAFT_FILE"), filepath.Join(commonDir, "info", "grafts"))
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return true, nil
		}
	}
	return false, err
}
