package githistory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// ErrNoMergeTree is the error of TryMerge if the installed git is too old.
var ErrNoMergeTree = errors.New("the installed git has no merge-tree --write-tree")

// TryMerge has git merge theirs into ours without a work tree, and returns the merge commit. git writes all new objects into the directory
// objects; in the environment of [Repo.WithObjects] git finds them. If there are conflicts, TryMerge returns their paths and no commit. In a
// repository that git refuses as unsafe, no configured merge driver runs: a file that would need one counts as a conflict.
func (r *Repo) TryMerge(ctx context.Context, objects, ours, theirs string) (merge string, conflicts []string, err error) {
	git := r.git
	git.Environ = slices.Concat(git.Environ, r.objectVariables(objects), []string{
		"GIT_AUTHOR_NAME=small-gate", "GIT_AUTHOR_EMAIL=small-gate", "GIT_COMMITTER_NAME=small-gate", "GIT_COMMITTER_EMAIL=small-gate",
	})
	if r.untrustedDir != "" {
		settings, err := r.noDriverSettings(ctx)
		if err != nil {
			return "", nil, r.toFailure("cannot read the configuration", err)
		}
		git.Environ = withSettings(git.Environ, settings...)
	}
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
	return merge, nil, r.toFailure("cannot try the merge", err)
}

// noDriverSettings returns the settings with which a merge runs no program that the configuration names: no filter, and "false" as each driver.
func (r *Repo) noDriverSettings(ctx context.Context) ([]setting, error) {
	settings := []setting{{"merge.renormalize", "false"}}
	names, err := r.git.Output(ctx, nil, "config", "-z", "--name-only", "--get-regexp", `^merge\..*\.driver$`)
	if gitcmd.ExitedWith(err, 1) { // there is none
		err = nil
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if name != "" {
			settings = append(settings, setting{name, "false"})
		}
	}
	return settings, err
}

// WithObjects returns the caller's environment, changed so that git writes new objects into the directory dir and also finds the objects in it.
func (r *Repo) WithObjects(dir string) []string {
	return slices.Concat(r.callerEnviron, r.objectVariables(dir))
}

// objectVariables returns the variables with which git writes new objects into dir and still finds the repository's objects.
func (r *Repo) objectVariables(dir string) []string {
	objects := r.callerEnviron.Get("GIT_OBJECT_DIRECTORY")
	if objects == "" {
		objects = filepath.Join(r.CommonDir, "objects")
	}
	all := objects
	if strings.ContainsRune(objects, os.PathListSeparator) || strings.HasPrefix(objects, `"`) { // such a path needs quotes in the list (git(1))
		all = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(objects) + `"`
	}
	if more := r.callerEnviron.Get("GIT_ALTERNATE_OBJECT_DIRECTORIES"); more != "" {
		all += string(os.PathListSeparator) + more
	}
	return []string{"GIT_OBJECT_DIRECTORY=" + dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + all}
}
