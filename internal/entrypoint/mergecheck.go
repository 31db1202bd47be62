package entrypoint

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate"
)

// MergeCheck predicts whether theirs would merge cleanly into ours: it compares
// their tips, and each with where they parted, and judges no commit. The policy is that of ours.
func MergeCheck(ctx context.Context, req Request, ours, theirs string) *gate.Report {
	return inRepository(ctx, req, "merge-check", func(s *session) (*gate.Report, error) {
		target, err := s.commit(ctx, ours)
		if err != nil {
			return nil, err
		}
		head, err := s.commit(ctx, theirs)
		if err != nil {
			return nil, err
		}
		if err := s.trust(ctx, target, ours); err != nil {
			return nil, err
		}
		return gate.MergeCheck(ctx, s.repo, target, head, ours, theirs, s.opts), nil
	})
}
