package embedded

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/githistory"
)

// Signature says whose a commit is. Of the index, it is the author that git
// would write, where git has said so: it hands GIT_AUTHOR_* to the hooks of
// git commit. Otherwise that is for git to tell.
func (r *Repo) Signature(ctx context.Context, revision string) (gate.Signature, error) {
	if err := alive(ctx, "reading a commit"); err != nil {
		return gate.Signature{}, err
	}
	if revision == gate.Index {
		name, email := r.env.Get("GIT_AUTHOR_NAME"), r.env.Get("GIT_AUTHOR_EMAIL")
		if name == "" || email == "" {
			return gate.Signature{}, unserved("who the author of this commit will be is for git to tell")
		}
		return gate.Signature{Name: name, Email: email}, nil
	}
	id, err := parseID(revision)
	if err != nil {
		return gate.Signature{}, err
	}
	o, err := r.object(id, plumbing.CommitObject, maxCommit)
	if err != nil {
		return gate.Signature{}, err
	}
	if o.data == nil {
		return gate.Signature{}, githistory.TooLargeCommit(revision)
	}
	return githistory.ParseSignature(o.data), nil
}

// CurrentBranch is the full name of the branch that HEAD names, empty for a
// detached HEAD.
func (r *Repo) CurrentBranch(context.Context) (string, error) {
	head, _, err := (&refs{repo: r}).stored("HEAD")
	return head.target, cannot("cannot read HEAD", err)
}
