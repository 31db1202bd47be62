package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
)

// Head is as [githistory.Repo.Head].
func (r *Repo) Head(context.Context) (string, error) { return r.head, r.headErr }

func (r *Repo) readHead() (string, error) {
	id, _, found, err := (&refs{repo: r}).follow("HEAD")
	if err != nil {
		return "", &failure.Error{
			Message: "HEAD is damaged: " + githistory.Printable(err.Error()),
			Remedy:  "git fsck",
			Err:     err,
		}
	}
	if !found {
		return "", nil
	}
	return id.String(), nil
}

// CurrentBranch is the full name of the branch that HEAD names, empty for a detached HEAD.
func (r *Repo) CurrentBranch(context.Context) (string, error) {
	head, _, err := (&refs{repo: r}).stored("HEAD")
	return head.target, cannot("cannot read HEAD", err)
}

// MergeHeads are as [githistory.Repo.MergeHeads].
func (r *Repo) MergeHeads(context.Context) ([]string, error) {
	heads, err := githistory.ReadMergeHead(r.GitDir)
	if err != nil {
		return nil, cannot("cannot read what is being merged", err)
	}
	for i, head := range heads {
		id, err := parseID(head)
		if err != nil {
			return nil, githistory.DamagedMergeHead()
		}
		if id, err = r.peelNamed(id); err != nil {
			return nil, err
		}
		heads[i] = id.String()
	}
	return heads, nil
}

// HeadBranch is as [githistory.Repo.HeadBranch].
func (r *Repo) HeadBranch(ctx context.Context) (githistory.Branch, error) {
	id, last, found, err := (&refs{repo: r}).follow("HEAD")
	if err != nil {
		return githistory.Branch{}, cannot("cannot look up the default branch", err)
	}
	if found {
		return githistory.Branch{Ref: last, ID: id.String()}, nil
	}
	others, err := r.Tips(ctx, "refs/heads/")
	if err != nil || len(others) == 0 {
		return githistory.Branch{}, err
	}
	return githistory.Branch{Ref: last}, nil
}

// DefaultBranch looks the default branch up where [githistory.Repo.DefaultBranch] does.
func (r *Repo) DefaultBranch(ctx context.Context, remote string) (githistory.Branch, error) {
	if err := alive(ctx, "looking up the default branch"); err != nil {
		return githistory.Branch{}, err
	}
	if r.Bare {
		return r.HeadBranch(ctx)
	}
	// The configuration is read only where the remote's HEAD is not known.
	branch, err := r.firstBranch(githistory.DefaultBranches(remote, nil)[:1])
	if err != nil || branch.ID != "" {
		return branch, err
	}
	configured, err := r.configuredBranch()
	if err != nil {
		return githistory.Branch{}, err
	}
	return r.firstBranch(githistory.DefaultBranches(remote, githistory.UsualNames(configured)))
}

// firstBranch is what the first of some refs that is there leads to.
func (r *Repo) firstBranch(names []string) (githistory.Branch, error) {
	s := &refs{repo: r}
	for _, name := range names {
		id, last, found, err := s.follow(name)
		if err != nil {
			return githistory.Branch{}, cannot("cannot look up the default branch", err)
		}
		if found && !githistory.PosesAsHead(name, last) {
			return githistory.Branch{Ref: last, ID: id.String()}, nil
		}
	}
	return githistory.Branch{}, nil
}

// Tips are as [githistory.Repo.Tips].
func (r *Repo) Tips(ctx context.Context, prefixes ...string) ([]string, error) {
	if err := alive(ctx, "listing refs"); err != nil {
		return nil, err
	}
	s := &refs{repo: r}
	names, err := s.list(prefixes)
	if err != nil {
		return nil, cannot("cannot list refs", err)
	}
	var tips []string
	for name := range names {
		id, _, found, err := s.follow(name)
		if err != nil {
			return nil, cannot("cannot list refs", err)
		}
		if !found {
			continue // it names a ref that is not there
		}
		to, kind, err := r.peel(id)
		if err != nil {
			return nil, err
		}
		if kind == plumbing.CommitObject {
			tips = append(tips, to.String())
		}
	}
	slices.Sort(tips)
	return slices.Compact(tips), nil
}

// Peel follows an object to a commit as [githistory.Repo.Peel] does.
func (r *Repo) Peel(_ context.Context, id string) (commit string, ok bool, err error) {
	parsed, err := parseID(id)
	if err != nil {
		return "", false, err
	}
	to, kind, err := r.peel(parsed)
	if err != nil || kind != plumbing.CommitObject {
		return "", false, err
	}
	return to.String(), true, nil
}

// Has reports whether an object is in the repository.
func (r *Repo) Has(_ context.Context, id string) (bool, error) {
	parsed, err := parseID(id)
	if err != nil {
		return false, err
	}
	_, err = r.objects.read(parsed, -1)
	if errors.Is(err, errMissing) {
		return false, nil
	}
	return err == nil, cannot(fmt.Sprintf("cannot look for %s", id), err)
}
