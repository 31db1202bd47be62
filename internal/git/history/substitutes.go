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

// Substitutes reports whether the repository has replace refs, and whether it has grafts, which give commits other parents. The readers ignore
// both, and a report says that the real objects were judged.
func (r *Repo) Substitutes(ctx context.Context) (replaceRefs, grafts bool, err error) {
	if r.mayHaveReplaceRefs() {
		refs, err := r.forEachRef(ctx, "--count=1", "--format=%(refname)", cmp.Or(r.callerEnviron.Get("GIT_REPLACE_REF_BASE"), "refs/replace/"))
		if err != nil {
			return false, false, r.toFailure("cannot look for replace refs", err)
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
	return replaceRefs, grafts, r.toFailure("cannot read the file of grafts", err)
}

// mayHaveReplaceRefs returns false if the files in which git keeps refs show that there are no replace refs (gitrepository-layout(5)). It returns
// true if there may be some, or if the refs are not kept in files: only git can tell then.
func (r *Repo) mayHaveReplaceRefs() bool {
	if r.callerEnviron.Get("GIT_REPLACE_REF_BASE") != "" {
		return true
	}
	heads, err := os.Lstat(filepath.Join(r.CommonDir, "refs", "heads"))
	if err != nil || !heads.IsDir() {
		return true
	}
	for _, other := range []string{"reftable", filepath.Join("refs", "replace")} {
		if _, err := os.Lstat(filepath.Join(r.CommonDir, other)); !errors.Is(err, os.ErrNotExist) {
			return true
		}
	}
	packed := false
	err = PackedRefs(r.CommonDir, r.format, func(_, name string) { packed = packed || strings.HasPrefix(name, "refs/replace/") })
	return packed || err != nil
}

// Partial reports whether the repository is configured as a partial clone, which may lack objects that its remote has.
func (r *Repo) Partial(ctx context.Context) (bool, error) {
	_, err := r.git.Output(ctx, nil, "config", "--get-regexp", promisorConfig)
	if gitcmd.ExitedWith(err, 1) {
		return false, nil
	}
	return err == nil, r.toFailure("cannot read the configuration", err)
}
