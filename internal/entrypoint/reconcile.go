package entrypoint

import (
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/publish"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/repository"
)

// Reconcile combines the logs of two sides, in the work tree and the index, under the locks of all workspaces. Of opts, Theirs, Plan
// and Handoff count; the policy is HEAD's. It needs git, which does the staging.
func Reconcile(ctx context.Context, req Request, with Locking, opts reconcile.Options) (out *reconcile.Outcome, err error) {
	for _, choice := range [][2]string{{"--plan", opts.Plan}, {"--handoff", opts.Handoff}} {
		flag, side := choice[0], choice[1]
		if side != "" && side != reconcile.Ours && side != reconcile.Theirs {
			return nil, &failure.Error{Message: fmt.Sprintf("%s takes ours or theirs, not %q", flag, side), Remedy: "write " + flag + " ours, or " + flag + " theirs"}
		}
	}
	err = req.withGit().lockAll(ctx, "reconcile", with, func(githistory.Place, []*locked, []string) error {
		return req.reconciling(ctx, "reconcile", opts, func(repo repository.Repository, opts reconcile.Options) error {
			begun, err := publish.Begun(repo.Where())
			if err != nil {
				return err
			}
			if out, err = reconcile.Run(ctx, repo, opts); err == nil && begun {
				out.Finish = "small-hook sync --continue"
			}
			return err
		})
	})
	return out, err
}

// MergeDriver merges one file for git, as Reconcile would. What it cannot merge is a conflict; it has no other failure.
func MergeDriver(ctx context.Context, req Request, in reconcile.MergeInput) reconcile.Merged {
	merged := in.Merge()
	if !merged.Conflict {
		return merged
	}
	err := req.reconciling(ctx, "merge-driver", reconcile.Options{}, func(repo repository.Repository, opts reconcile.Options) (err error) {
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
func (r Request) withGit() Request {
	if r.Reader == repository.Auto || r.Reader == "" {
		r.Reader = repository.Git
	}
	return r
}

// reconciling runs do in the request's repository, under HEAD's policy.
func (r Request) reconciling(ctx context.Context, mode string, opts reconcile.Options, do func(repository.Repository, reconcile.Options) error) error {
	_, err := r.withGit().inRepository(ctx, mode, func(s *session) error {
		head, err := s.repo.Head(ctx)
		if err == nil {
			err = s.trust(ctx, head, "HEAD")
		}
		if err != nil {
			return err
		}
		opts.Environ, opts.Now, opts.Policy, opts.MaxFileSize = r.Environ, r.Now, s.opts.Policy, r.MaxFileSize
		if r.Config == "" {
			opts.PolicyOf = s.policyOf
		}
		return do(s.repo, opts)
	})
	return err
}

// policyOf reads the configuration of a commit that is not trusted, for what it forbids, never for what it allows.
func (s *session) policyOf(ctx context.Context, commit, name string) (*policy.Policy, error) {
	other := &session{repo: s.repo, req: s.req}
	err := other.trust(ctx, commit, name)
	return other.opts.Policy, err
}
