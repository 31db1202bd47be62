package writers

import (
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/repository"
)

// Reconcile combines the logs of two sides, in the work tree and the index, under the locks of all workspaces. Of opts, Theirs, Plan
// and Handoff count; the policy is HEAD's. It needs git, which does the staging.
func Reconcile(ctx context.Context, req session.Request, with Locking, opts reconcile.Options) (out *reconcile.Outcome, err error) {
	for _, choice := range [][2]string{{"--plan", opts.Plan}, {"--handoff", opts.Handoff}} {
		flag, side := choice[0], choice[1]
		if side != "" && side != reconcile.Ours && side != reconcile.Theirs {
			return nil, &failure.Error{Message: fmt.Sprintf("%s takes ours or theirs, not %q", flag, side), Remedy: "write " + flag + " ours, or " + flag + " theirs"}
		}
	}
	err = lockAll(ctx, withGit(req), "reconcile", with, func([]*locked) error {
		return reconciling(ctx, req, "reconcile", opts, func(repo repository.Repository, opts reconcile.Options) (err error) {
			out, err = reconcile.Run(ctx, repo, opts)
			return err
		})
	})
	return out, err
}

// MergeDriver merges one file for git, as Reconcile would. What it cannot merge is a conflict; it has no other failure.
func MergeDriver(ctx context.Context, req session.Request, in reconcile.MergeInput) reconcile.Merged {
	merged := in.Merge()
	if !merged.Conflict {
		return merged
	}
	err := reconciling(ctx, req, "merge-driver", reconcile.Options{}, func(repo repository.Repository, opts reconcile.Options) (err error) {
		merged, err = reconcile.Drive(ctx, repo, opts, in)
		return err
	})
	if err != nil {
		f := failure.Of(err)
		merged = in.Merge()
		merged.Message += " (" + f.Message + ": " + f.Remedy + ")"
	}
	return merged
}

// withGit is the request with git as its reader, unless it asks for another: the work needs git in any case.
func withGit(req session.Request) session.Request {
	if req.Reader == repository.Auto || req.Reader == "" {
		req.Reader = repository.Git
	}
	return req
}

// reconciling runs do in the request's repository, under HEAD's policy.
func reconciling(ctx context.Context, req session.Request, mode string, opts reconcile.Options, do func(repository.Repository, reconcile.Options) error) error {
	return reconcilingAt(ctx, req, mode, "", opts, do)
}

// reconcilingAt is reconciling under the policy of a commit; empty for HEAD.
func reconcilingAt(ctx context.Context, req session.Request, mode, trusted string, opts reconcile.Options, do func(repository.Repository, reconcile.Options) error) error {
	_, err := withGit(req).InRepository(ctx, mode, func(s *session.Session) (err error) {
		name := "the remote's branch"
		if trusted == "" {
			name = "HEAD"
			trusted, err = s.Repo.Head(ctx)
		}
		if err == nil {
			err = s.Trust(ctx, trusted, name)
		}
		if err != nil {
			return err
		}
		opts.Environ, opts.Now, opts.Policy, opts.MaxFileSize = req.Environ, req.Now, s.Opts.Policy, req.MaxFileSize
		if req.Config == "" {
			opts.PolicyOf = func(ctx context.Context, commit, name string) (*policy.Policy, error) {
				other := &session.Session{Repo: s.Repo, Req: s.Req} // not trusted: it counts for what it forbids, never for what it allows
				err := other.Trust(ctx, commit, name)
				return other.Opts.Policy, err
			}
		}
		return do(s.Repo, opts)
	})
	return err
}
