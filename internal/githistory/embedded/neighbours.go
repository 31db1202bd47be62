package embedded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	raw "github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/small-gate/small-gate/internal/githistory"
)

// Neighbours are the upstream of the branch that is checked out, if it has one
// and that has been fetched, and then the other work trees that are there and
// have commits, in order of path.
func (r *Repo) Neighbours(ctx context.Context) ([]githistory.Neighbour, error) {
	var found []githistory.Neighbour
	upstream, err := r.upstream(ctx)
	if err != nil {
		return nil, cannot("cannot look up the upstream branch", err)
	}
	if upstream.ID != "" {
		found = append(found, upstream)
	}
	trees, err := r.worktrees()
	if err != nil {
		return nil, cannot("cannot list the work trees", err)
	}
	return append(found, trees...), nil
}

func (r *Repo) upstream(ctx context.Context) (githistory.Neighbour, error) {
	head, err := r.CurrentBranch(ctx)
	branch, isBranch := strings.CutPrefix(head, "refs/heads/")
	if err != nil || !isBranch || r.head == "" {
		return githistory.Neighbour{}, err
	}
	name, err := r.configuredUpstream(branch)
	if err != nil || name == "" {
		return githistory.Neighbour{}, err
	}
	id, last, found, err := (&refs{repo: r}).follow(name)
	if err != nil || !found {
		return githistory.Neighbour{}, err
	}
	if last != name {
		return githistory.Neighbour{}, unserved("%s names another ref", name)
	}
	return githistory.Neighbour{Ref: name, ID: id.String()}, nil
}

// configuredUpstream is the ref that a branch is configured to follow: a local
// branch, or what its remote's branch is fetched into. Of branch.<name>.remote
// the last word counts, of branch.<name>.merge the first.
func (r *Repo) configuredUpstream(branch string) (string, error) {
	var remote, merge string
	fetch := map[string][]string{}
	err := r.eachConfig("branch.", func(config *raw.Config) error {
		own := config.Section("branch").Subsection(branch)
		if own.HasOption("remote") {
			remote = own.Option("remote")
		}
		if merge == "" && own.HasOption("merge") {
			merge = own.OptionAll("merge")[0]
		}
		for _, sub := range config.Section("remote").Subsections {
			fetch[sub.Name] = append(fetch[sub.Name], sub.OptionAll("fetch")...)
		}
		return nil
	})
	name, isBranch := strings.CutPrefix(merge, "refs/heads/")
	switch {
	case err != nil || remote == "" || merge == "":
		return "", err
	case !plain(remote + merge):
		return "", unserved("the branch %s follows %q of %q", githistory.Printable(branch), merge, remote)
	case remote == ".":
		return merge, nil
	case len(fetch[remote]) != 1 || fetch[remote][0] != "+refs/heads/*:refs/remotes/"+remote+"/*" || !isBranch:
		return "", unserved("what is fetched from %s is configured otherwise than by git clone", githistory.Printable(remote))
	}
	return "refs/remotes/" + remote + "/" + name, nil
}

// worktrees lists the other work trees: the main one, which is beside the common
// directory unless that is a bare repository, and those that have a directory
// below worktrees.
func (r *Repo) worktrees() ([]githistory.Neighbour, error) {
	var trees []githistory.Neighbour
	if main, ok := strings.CutSuffix(r.CommonDir, string(filepath.Separator)+".git"); ok {
		tree, err := r.worktree(r.CommonDir, main)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	dir := filepath.Join(r.CommonDir, "worktrees")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		gitDir := filepath.Join(dir, entry.Name())
		path, err := githistory.WorktreeOf(gitDir)
		if err != nil {
			return nil, err
		}
		tree, err := r.worktree(gitDir, path)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	trees = slices.DeleteFunc(trees, func(t githistory.Neighbour) bool { return t.ID == "" })
	githistory.SortNeighbours(trees)
	return trees, nil
}

// worktree is what a work tree has checked out. It has no ID for the one that
// this is, for one that is gone, and on a branch without commits.
func (r *Repo) worktree(gitDir, path string) (githistory.Neighbour, error) {
	if githistory.SamePlace(gitDir, r.GitDir) || !githistory.WorktreeIsThere(path) {
		return githistory.Neighbour{}, nil
	}
	other := &Repo{Place: githistory.Place{GitDir: gitDir, CommonDir: r.CommonDir}}
	s := &refs{repo: other}
	head, _, err := s.stored("HEAD")
	if err != nil {
		return githistory.Neighbour{}, err
	}
	id, _, found, err := s.follow("HEAD")
	if err != nil || !found {
		return githistory.Neighbour{}, err
	}
	return githistory.Neighbour{Ref: head.target, Worktree: path, ID: id.String()}, nil
}
