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
	githistory "github.com/small-gate/small-gate/internal/git/history"
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
	if bare, _ := r.config.last("core.bare"); bare != "true" {
		dotGits[r.CommonDir] = r.CommonDir
	}
	for _, entry := range entries {
		dir := filepath.Join(r.CommonDir, "worktrees", entry.Name())
		path, err := readSmall(filepath.Join(dir, "gitdir"))
		dotGits[dir] = filepath.FromSlash(strings.TrimRight(string(path), "\r\n"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			delete(dotGits, dir) // git skips it too
		case err != nil:
			return nil, err
		case !filepath.IsAbs(dotGits[dir]):
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
	merge := "branch." + branch + ".merge"
	set, err := r.everyConfig(merge)
	remote, _ := set.last("branch." + branch + ".remote")
	switch {
	case err != nil || remote == "" || len(set[merge]) == 0:
		return "", err
	case remote == ".":
		return set[merge][0], nil
	}
	for _, text := range set["remote."+remote+".fetch"] {
		spec, from := refspec.RefSpec(text), plumbing.ReferenceName(set[merge][0])
		if strings.HasPrefix(text, "^") {
			return "", unserved("the remote %s leaves refs out", wording.Printable(remote))
		}
		if spec.Validate() == nil && spec.Match(from) {
			return spec.Dst(from).String(), nil
		}
	}
	return "", nil
}
