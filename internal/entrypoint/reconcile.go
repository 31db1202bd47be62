package entrypoint

import (
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/repository"
)

// Resolution says what a reconciliation does apart from the logs.
type Resolution struct {
	// Theirs names the other side if no merge is under way.
	Theirs string
	// Plan and Handoff say whose file to take: reconcile.Ours, reconcile.Theirs, or empty for neither.
	Plan, Handoff string
}

// Reconcile combines the logs of two sides, in the work tree and the index. The policy is HEAD's. It needs git, which does the
// staging.
func Reconcile(ctx context.Context, req Request, what Resolution) (out *reconcile.Outcome, err error) {
	for flag, side := range map[string]string{"--plan": what.Plan, "--handoff": what.Handoff} {
		if side != "" && side != reconcile.Ours && side != reconcile.Theirs {
			return nil, &failure.Error{Message: fmt.Sprintf("%s takes ours or theirs, not %q", flag, side), Remedy: "write " + flag + " ours, or " + flag + " theirs"}
		}
	}
	if req.Reader == repository.Auto || req.Reader == "" {
		req.Reader = repository.Git // which is needed for the staging anyway
	}
	_, err = req.inRepository(ctx, "reconcile", func(s *session) (err error) {
		out, err = s.reconcile(ctx, what)
		return err
	})
	return out, err
}

func (s *session) reconcile(ctx context.Context, what Resolution) (*reconcile.Outcome, error) {
	head, err := s.repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.trust(ctx, head, "HEAD"); err != nil {
		return nil, err
	}
	opts := reconcile.Options{
		Theirs: what.Theirs, Plan: what.Plan, Handoff: what.Handoff,
		Environ: s.req.Environ, Now: s.req.Now, Policy: s.opts.Policy, MaxFileSize: s.req.MaxFileSize,
	}
	if s.req.Config == "" {
		opts.PolicyOf = s.policyOf
	}
	return reconcile.Run(ctx, s.repo, opts)
}

// policyOf reads the configuration of a commit that is not trusted, for what it forbids, never for what it allows.
func (s *session) policyOf(ctx context.Context, commit, name string) (*policy.Policy, error) {
	other := &session{repo: s.repo, req: s.req}
	err := other.trust(ctx, commit, name)
	return other.opts.Policy, err
}
