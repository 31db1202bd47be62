package githistory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// Substitutes reports whether the repository has replace refs, and whether it has a file of grafts, which gives commits other parents. The
// readers follow neither; a report says that the real objects were judged.
func (r *Repo) Substitutes(ctx context.Context) (replaceRefs, grafts bool, err error) {
	if !r.noReplaceRefs() {
		refs, err := r.forEachRef(ctx, "--count=1", "--format=%(refname)", cmp.Or(r.callerEnviron.Get("GIT_REPLACE_REF_BASE"), "refs/replace/"))
		if err != nil {
			return false, false, r.failure("cannot look for replace refs", err)
		}
		replaceRefs = refs != ""
	}
	data, err := os.ReadFile(cmp.Or(r.callerEnviron.Get("GIT_GRAFT_FILE"), filepath.Join(r.CommonDir, "info", "grafts")))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		grafts = grafts || len(line) > 0 && line[0] != '#'
	}
	return replaceRefs, grafts, r.failure("cannot read the file of grafts", err)
}

// noReplaceRefs reports whether the files in which refs are kept show that there are no replace refs (gitrepository-layout(5)). If they do not
// show it, or if refs are not kept in files, git has to be asked.
func (r *Repo) noReplaceRefs() bool {
	if r.callerEnviron.Get("GIT_REPLACE_REF_BASE") != "" {
		return false
	}
	heads, err := os.Lstat(filepath.Join(r.CommonDir, "refs", "heads"))
	if err != nil || !heads.IsDir() {
		return false
	}
	for _, other := range []string{"reftable", filepath.Join("refs", "replace")} {
		if _, err := os.Lstat(filepath.Join(r.CommonDir, other)); !errors.Is(err, os.ErrNotExist) {
			return false
		}
	}
	none := true
	err = PackedRefs(r.CommonDir, r.format, func(_, name string) { none = none && !strings.HasPrefix(name, "refs/replace/") })
	return none && err == nil
}

// Partial reports whether the clone lacks objects that its remote has.
func (r *Repo) Partial(ctx context.Context) (bool, error) {
	_, err := r.git.Output(ctx, nil, "config", "--get-regexp", promisorConfig)
	if gitcmd.ExitedWith(err, 1) {
		return false, nil
	}
	return err == nil, r.failure("cannot read the configuration", err)
}
