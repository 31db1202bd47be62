package embedded

import (
	"context"
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/wording"
)

// Head is as [githistory.Repo.Head].
func (r *Repo) Head(context.Context) (string, error) { return r.head, r.headErr }

func (r *Repo) readHead() (string, error) {
	id, _, found, err := (&refs{repo: r}).follow("HEAD")
	if err != nil {
		return "", &failure.Error{
			Message: "HEAD is damaged: " + wording.Printable(err.Error()),
			Remedy:  "`git fsck`",
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

// Refs looks refs up as [githistory.Refs] says.
func (r *Repo) Refs(ctx context.Context, names ...string) (map[string]githistory.Branch, error) {
	if err := alive(ctx, "looking up refs"); err != nil {
		return nil, err
	}
	s := &refs{repo: r}
	out := map[string]githistory.Branch{}
	for _, name := range names {
		id, last, found, err := s.follow(name)
		if err != nil {
			return nil, cannot("cannot look up the default branch", err)
		}
		if found {
			out[name] = githistory.Branch{Ref: last, ID: id.String()}
		}
	}
	return out, nil
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

// Branches are as [githistory.Repo.Branches].
func (r *Repo) Branches(ctx context.Context, prefix string) (map[string]string, error) {
	if err := alive(ctx, "listing branches"); err != nil {
		return nil, err
	}
	s := &refs{repo: r}
	names, err := s.list([]string{prefix})
	if err != nil {
		return nil, cannot("cannot list branches", err)
	}
	tips := map[string]string{}
	for name := range names {
		id, last, found, err := s.follow(name)
		if err != nil {
			return nil, cannot("cannot list branches", err)
		}
		if found && last == name {
			tips[name] = id.String()
		}
	}
	return tips, nil
}

// Peel follows an object to a commit as [githistory.Repo.Peel] does.
func (r *Repo) Peel(_ context.Context, id string) (commit string, here bool, err error) {
	parsed, err := parseID(id)
	if err != nil {
		return "", false, err
	}
	if _, err := r.objects.read(parsed, -1); errors.Is(err, errMissing) {
		return "", false, nil
	}
	to, kind, err := r.peel(parsed)
	if err != nil || kind != plumbing.CommitObject {
		return "", true, err
	}
	return to.String(), true, nil
}
