package entrypoint

import (
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/repository"
)

// Reconcile combines the logs of two sides, in the work tree and the index. Of opts, Theirs, Plan and Handoff count; the policy is
// HEAD's. It needs git, which does the staging.
func Reconcile(ctx context.Context, req Request, opts reconcile.Options) (out *reconcile.Outcome, err error) {
	for _, choice := range [][2]string{{"--plan", opts.Plan}, {"--handoff", opts.Handoff}} {
		flag, side := choice[0], choice[1]
		if side != "" && side != reconcile.Ours && side != reconcile.Theirs {
			return nil, &failure.Error{Message: fmt.Sprintf("%s takes ours or theirs, not %q", flag, side), Remedy: "write " + flag + " ours, or " + flag + " theirs"}
		}
	}
	if req.Reader == repository.Auto || req.Reader == "" {
		req.Reader = repository.Git // which is needed for the staging anyway
	}
	_, err = req.inRepository(ctx, "reconcile", func(s *session) error {
		head, err := s.repo.Head(ctx)
		if err == nil {
			err = s.trust(ctx, head, "HEAD")
		}
		if err != nil {
			return err
		}
		opts.Environ, opts.Now, opts.Policy, opts.MaxFileSize = req.Environ, req.Now, s.opts.Policy, req.MaxFileSize
		if req.Config == "" {
			opts.PolicyOf = s.policyOf
		}
		out, err = reconcile.Run(ctx, s.repo, opts)
		return err
	})
	return out, err
}

// policyOf reads the configuration of a commit that is not trusted, for what it forbids, never for what it allows.
func (s *session) policyOf(ctx context.Context, commit, name string) (*policy.Policy, error) {
	other := &session{repo: s.repo, req: s.req}
	err := other.trust(ctx, commit, name)
	return other.opts.Policy, err
}
