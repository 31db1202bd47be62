package plain

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	refspec "github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/git/history"
)

// Neighbours are as [githistory.Repo.Neighbours].
func (r *Repo) Neighbours(ctx context.Context) ([]githistory.Neighbour, error) {
	var out []githistory.Neighbour
	upstream, err := r.upstream(ctx)
	if upstream != "" && err == nil {
		var at githistory.Branch
		if at, err = r.refs().follow(upstream); at.ID != "" {
			out = append(out, githistory.Neighbour{Ref: upstream, ID: at.ID})
		}
	}
	if err != nil {
		return nil, cannot("cannot look up the upstream branch", err)
	}
	trees, err := r.worktrees()
	return append(out, trees...), cannot("cannot list the work trees", err)
}

// worktrees lists the other work trees (gitrepository-layout(5), worktrees).
func (r *Repo) worktrees() (out []githistory.Neighbour, err error) {
	entries, err := os.ReadDir(filepath.Join(r.CommonDir, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	dotGits := map[string]string{} // by git directory
	if r.config.options("core", "").Get("bare") != "true" {
		dotGits[r.CommonDir] = r.CommonDir
	}
	for _, entry := range entries {
		dir := filepath.Join(r.CommonDir, "worktrees", entry.Name())
		path, err := readSmall(filepath.Join(dir, "gitdir"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // git skips it too
		}
		if err != nil {
			return nil, err
		}
		dotGits[dir] = filepath.FromSlash(strings.TrimRight(string(path), "\r\n"))
		if !filepath.IsAbs(dotGits[dir]) {
			return nil, unserved("the path of the work tree %s is relative", wording.Printable(filepath.Dir(dotGits[dir])))
		}
	}
	delete(dotGits, r.GitDir)
	s := r.refs()
	for dir, dotGit := range dotGits {
		if _, err := os.Lstat(dotGit); errors.Is(err, fs.ErrNotExist) {
			continue // a deleted work tree stays listed until git worktree prune
		}
		s.gitDir = dir
		at, err := s.follow("HEAD")
		if err != nil {
			return nil, err
		}
		if at.ID != "" {
			out = append(out, githistory.Neighbour{Ref: strings.TrimPrefix(at.Ref, "HEAD"), Worktree: filepath.Dir(dotGit), ID: at.ID})
		}
	}
	slices.SortFunc(out, func(a, b githistory.Neighbour) int { return strings.Compare(a.Worktree, b.Worktree) })
	return out, nil
}

// upstream is the upstream ref of the checked-out branch; empty without one (git-config(1), branch.<name>.merge).
func (r *Repo) upstream(ctx context.Context) (string, error) {
	head, err := r.CurrentBranch(ctx)
	branch, isBranch := strings.CutPrefix(head, "refs/heads/")
	if err != nil || !isBranch || r.head.ID == "" {
		return "", err
	}
	set, err := r.everyConfig("branch." + branch + ".merge")
	own := set.options("branch", branch)
	remote, merges := own.Get("remote"), own.GetAll("merge")
	switch {
	case err != nil || remote == "" || len(merges) == 0:
		return "", err
	case remote == ".":
		return merges[0], nil
	}
	specs := set.options("remote", remote).GetAll("fetch")
	for _, old := range []string{"remotes", "branches"} { // where remotes were configured in the past
		if _, err := os.Lstat(filepath.Join(r.CommonDir, old, remote)); len(specs) == 0 && err == nil {
			return "", unserved("the remote %s is configured in a file", wording.Printable(remote))
		}
	}
	for _, text := range specs {
		spec, from := refspec.RefSpec(text), plumbing.ReferenceName(merges[0])
		if strings.HasPrefix(text, "^") {
			return "", unserved("the remote %s leaves refs out", wording.Printable(remote))
		}
		if spec.Validate() == nil && spec.Match(from) {
			return spec.Dst(from).String(), nil
		}
	}
	return "", nil
}
