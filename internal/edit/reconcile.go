package edit

import (
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/git/repository"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/write/reconcile"
	"github.com/small-gate/small-gate/internal/write/threeway"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// Reconcile combines the logs of two sides, in the work tree and the index, under the locks of all workspaces. Of opts it uses Theirs and Plan;
// the policy is HEAD's. It needs git for staging.
func Reconcile(ctx context.Context, req session.Request, locking Locking, opts reconcile.Options) (out *reconcile.Outcome, err error) {
	if opts.Plan != "" && opts.Plan != threeway.Ours && opts.Plan != threeway.Theirs {
		return nil, &failure.Error{Message: fmt.Sprintf("--plan takes ours or theirs, not %q", opts.Plan), Remedy: "write --plan ours, or --plan theirs"}
	}
	err = withAllLocks(ctx, withGit(req), "reconcile", locking, func([]*lockedWorkspace) error {
		return withMergePolicy(ctx, req, "reconcile", "", opts, func(repo repository.Repository, opts reconcile.Options) (err error) {
			out, err = reconcile.Run(ctx, repo, opts)
			return err
		})
	})
	return out, err
}

// MergeDriver merges one file for git, see [reconcile.Drive]. If it cannot merge the file, it returns a conflict; it never fails otherwise.
func MergeDriver(ctx context.Context, req session.Request, in reconcile.MergeInput) reconcile.Merged {
	merged := in.Merge()
	if !merged.Conflict {
		return merged
	}
	err := withMergePolicy(ctx, req, "merge-driver", "", reconcile.Options{}, func(repo repository.Repository, opts reconcile.Options) error {
		done, err := reconcile.Drive(ctx, repo, opts, in)
		if done != nil {
			merged = *done
		}
		return err
	})
	if err != nil {
		merged.Message = failure.Of(err).Message + ". " + failure.Of(err).Remedy
	}
	return merged
}

// withGit returns the request with git as its reader, unless it names a reader: commands that stage or commit need git anyway.
func withGit(req session.Request) session.Request {
	if req.Reader == repository.Auto || req.Reader == "" {
		req.Reader = repository.Git
	}
	return req
}

// withMergePolicy runs do in the request's repository, under the policy of the commit that trusted names or, if trusted is empty, the policy for a
// merge into HEAD.
func withMergePolicy(ctx context.Context, req session.Request, mode, trusted string, opts reconcile.Options, do func(repository.Repository, reconcile.Options) error) error {
	_, err := withGit(req).InRepository(ctx, mode, func(s *session.Session) (err error) {
		if trusted == "" {
			err = trustMerge(ctx, s, opts.Theirs)
		} else {
			err = s.Trust(ctx, trusted, "the remote's branch")
		}
		if err != nil {
			return err
		}
		opts.Environ, opts.Now, opts.Policy, opts.MaxFileSize = req.Environ, req.Now, s.Opts.Policy, req.MaxFileSize
		if req.Config == "" {
			opts.PolicyOf = func(ctx context.Context, commit, name string) (*policy.Policy, error) {
				other := &session.Session{Repo: s.Repo, Req: s.Req} // the commit is not trusted: its policy may forbid, but not allow
				err := other.Trust(ctx, commit, name)
				return other.Opts.Policy, err
			}
		}
		return do(s.Repo, opts)
	})
	return err
}

// trustMerge takes the policy for merging a named commit into HEAD or, without a name, the commits that git is merging.
func trustMerge(ctx context.Context, s *session.Session, named string) error {
	merged := workgit.GitHeads(s.Req.Environ)
	if named != "" {
		id, err := s.Repo.Resolve(ctx, named)
		if err != nil {
			return err
		}
		merged = []string{id}
	}
	_, _, err := s.TrustHead(ctx, merged)
	return err
}
