package embedded

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/githistory"
)

// Neighbours are the upstream of the branch that is checked out, if it has one
// and that has been fetched, and then the other work trees that are there and
// have commits, in order of path.
func (r *Repo) Neighbours(ctx context.Context) ([]githistory.Neighbour, error) {
	if err := alive(ctx, "looking for others' work"); err != nil {
		return nil, err
	}
	var out []githistory.Neighbour
	upstream, err := r.upstream()
	if err != nil {
		return nil, cannot("cannot look up the upstream branch", err)
	}
	if upstream.ID != "" {
		out = append(out, upstream)
	}
	trees, err := r.worktrees()
	if err != nil {
		return nil, cannot("cannot list the work trees", err)
	}
	return append(out, trees...), nil
}

func (r *Repo) upstream() (githistory.Neighbour, error) {
	s := &refs{repo: r}
	head, found, err := s.stored("HEAD")
	branch, isBranch := strings.CutPrefix(head.target, "refs/heads/")
	if err != nil || !found || !isBranch || r.head == "" {
		return githistory.Neighbour{}, err
	}
	name, err := r.configuredUpstream(branch)
	if err != nil || name == "" {
		return githistory.Neighbour{}, err
	}
	id, last, found, err := s.follow(name)
	if err != nil || !found {
		return githistory.Neighbour{}, err
	}
	if last != name {
		return githistory.Neighbour{}, unserved("%s names another ref", name)
	}
	return githistory.Neighbour{Ref: name, ID: id.String()}, nil
}

// worktrees lists the other work trees: the main one, which is beside the common
// directory unless that is a bare repository, and those that have a directory
// below worktrees.
func (r *Repo) worktrees() ([]githistory.Neighbour, error) {
	s := &refs{repo: r}
	var trees []githistory.Neighbour
	add := func(gitDir, path string) error {
		if githistory.SamePlace(gitDir, r.GitDir) || !githistory.WorktreeIsThere(path) {
			return nil
		}
		tree := githistory.Neighbour{Worktree: path}
		head, err := s.headOf(gitDir)
		if err != nil {
			return err
		}
		tree.ID, tree.Ref = head.id.String(), head.target
		if head.target != "" {
			id, _, found, err := s.follow(head.target)
			if err != nil || !found {
				return err
			}
			tree.ID = id.String()
		}
		trees = append(trees, tree)
		return nil
	}
	if main, ok := strings.CutSuffix(r.CommonDir, string(filepath.Separator)+".git"); ok {
		if err := add(r.CommonDir, main); err != nil {
			return nil, err
		}
	}
	dir := filepath.Join(r.CommonDir, "worktrees")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		gitDir := filepath.Join(dir, entry.Name())
		path, err := githistory.WorktreeOf(gitDir)
		if err == nil && path != "" {
			err = add(gitDir, path)
		}
		if err != nil {
			return nil, err
		}
	}
	githistory.SortNeighbours(trees)
	return trees, nil
}

// headOf reads the HEAD of a work tree.
func (s *refs) headOf(gitDir string) (ref, error) {
	path := filepath.Join(gitDir, "HEAD")
	if target, err := os.Readlink(path); err == nil && strings.HasPrefix(target, "refs/") {
		return ref{target: target}, nil
	}
	data, err := readSmall(path)
	if err != nil {
		return ref{}, err
	}
	return parseRef(data)
}
