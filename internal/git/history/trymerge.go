package githistory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/git/run"
)

// ErrNoMergeTree is the error of TryMerge if git is too old.
var ErrNoMergeTree = errors.New("git merge-tree --write-tree is not there")

// TryMerge has git merge theirs into ours, and returns the merge commit. All new objects are written into the directory objects:
// [Repo.WithObjects] makes them visible. If git would stop at conflicts, it returns their paths, and no commit.
func (r *Repo) TryMerge(ctx context.Context, objects, ours, theirs string) (merge string, conflicts []string, err error) {
	git := r.git
	git.Environ = slices.Concat(git.Environ, r.objectsIn(objects), []string{
		"GIT_AUTHOR_NAME=small-gate", "GIT_AUTHOR_EMAIL=small-gate", "GIT_COMMITTER_NAME=small-gate", "GIT_COMMITTER_EMAIL=small-gate",
	})
	done, err := git.Run(ctx, nil, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
	tree, paths, _ := strings.Cut(string(done.Out), "\x00")
	switch {
	case err == nil && done.Status == 1 && tree != "":
		return "", strings.FieldsFunc(paths, func(c rune) bool { return c == 0 }), nil
	case err == nil && done.Status == 129: // wrong usage
		return "", nil, ErrNoMergeTree
	case err == nil && done.Status != 0:
		err = &gitcmd.Error{Command: "merge-tree", Status: done.Status, Stderr: done.Stderr}
	}
	if err == nil {
		var id []byte
		id, err = git.Output(ctx, nil, "commit-tree", "-m", "Merge", "-p", ours, "-p", theirs, tree)
		merge = strings.TrimSpace(string(id))
	}
	return merge, nil, r.failure("cannot try the merge", err)
}

// WithObjects is the caller's environment, in which git also finds objects in a directory, and writes there.
func (r *Repo) WithObjects(dir string) []string { return slices.Concat(r.given, r.objectsIn(dir)) }

func (r *Repo) objectsIn(dir string) []string {
	own := r.given.Get("GIT_OBJECT_DIRECTORY")
	if own == "" {
		own = filepath.Join(r.CommonDir, "objects")
	}
	all := own
	if strings.ContainsRune(own, os.PathListSeparator) || strings.HasPrefix(own, `"`) { // git(1) on this variable
		all = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(own) + `"`
	}
	if more := r.given.Get("GIT_ALTERNATE_OBJECT_DIRECTORIES"); more != "" {
		all += string(os.PathListSeparator) + more
	}
	return []string{"GIT_OBJECT_DIRECTORY=" + dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + all}
}
