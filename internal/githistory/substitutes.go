package githistory

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
)

// ReplaceRefs reports whether the repository has replace refs. They are never
// followed here; a report says that the judgement is of the real objects.
func (r *Repo) ReplaceRefs(ctx context.Context) (bool, error) {
	base := Environ(r.given).Get("GIT_REPLACE_REF_BASE")
	if base == "" {
		base = "refs/replace/"
	}
	if err := r.checkPackedRefs(); err != nil {
		return false, r.failure("cannot look for replace refs", err)
	}
	out, err := r.output(ctx, nil, "for-each-ref", "--count=1", "--format=%(refname)", base)
	return len(out) > 0, r.failure("cannot look for replace refs", err)
}

// Grafts reports whether the repository has a file that gives commits other
// parents. It is never followed here.
func (r *Repo) Grafts() (bool, error) {
	found, err := HasGrafts(r.CommonDir, Environ(r.given).Get("GIT_GRAFT_FILE"))
	return found, r.failure("cannot read the file of grafts", err)
}

// HasGrafts reports whether there is a file of grafts that says anything. An
// empty name means the one in the git directory.
func HasGrafts(commonDir, name string) (bool, error) {
	if name == "" {
		name = filepath.Join(commonDir, "info", "grafts")
	}
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
