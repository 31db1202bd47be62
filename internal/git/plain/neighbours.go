package plain

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	refspec "github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"

	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// Neighbours lists the upstream branch and what is checked out in other work trees, as [githistory.Repo.Neighbours] does.
func (r *Repo) Neighbours(ctx context.Context) ([]githistory.Neighbour, error) {
	var at githistory.Branch
	upstream, err := r.upstream(ctx)
	if upstream != "" && err == nil {
		at, err = r.refs().follow(upstream)
	}
	if err != nil {
		return nil, asFailure("cannot look up the upstream branch", err)
	}
	out, err := r.worktrees()
	if at.ID != "" {
		out = slices.Insert(out, 0, githistory.Neighbour{Ref: upstream, ID: at.ID})
	}
	return out, asFailure("cannot list the work trees", err)
}

// worktrees lists the other work trees (gitrepository-layout(5), worktrees).
func (r *Repo) worktrees() (out []githistory.Neighbour, err error) {
	dotGits, err := githistory.DotGits(r.CommonDir)
	if err != nil {
		return nil, err
	}
	if bare, _ := r.config.last("core.bare"); bare == "true" {
		delete(dotGits, r.CommonDir)
	}
	delete(dotGits, r.GitDir)
	s := r.refs()
	for dir, dotGit := range dotGits {
		if !githistory.MayExist(dotGit) {
			continue
		}
		s.gitDir = dir
		at, err := s.follow("HEAD")
		if err != nil {
			return nil, err
		}
		if at.ID != "" {
			// For a detached HEAD, follow names HEAD itself as the ref. Neighbour.Ref is empty then.
			out = append(out, githistory.Neighbour{Ref: strings.TrimPrefix(at.Ref, "HEAD"), Worktree: filepath.Dir(dotGit), ID: at.ID})
		}
	}
	slices.SortFunc(out, func(a, b githistory.Neighbour) int { return strings.Compare(a.Worktree, b.Worktree) })
	return out, nil
}

// upstream returns the ref that .git/config sets as the upstream of the checked-out branch (git-config(1), branch.<name>.merge); empty if it sets none.
func (r *Repo) upstream(ctx context.Context) (string, error) {
	head, err := r.CurrentBranch(ctx)
	branch, isBranch := strings.CutPrefix(head, "refs/heads/")
	if err != nil || !isBranch || r.head.ID == "" { // the branch has no commit yet
		return "", err
	}
	merge := r.config["branch."+branch+".merge"]
	remote, _ := r.config.last("branch." + branch + ".remote")
	switch {
	case remote == "" || len(merge) == 0:
		return "", nil
	case remote == ".":
		return merge[0], nil
	}
	for _, text := range r.config["remote."+remote+".fetch"] {
		spec, from := refspec.RefSpec(text), plumbing.ReferenceName(merge[0])
		if spec.Validate() == nil && spec.Match(from) {
			return spec.Dst(from).String(), nil
		}
	}
	return "", nil
}
