package entrypoint

import (
	"context"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/wording"
)

// Range judges every commit that HEAD has and BASE lacks, then the two tips, then HEAD's snapshot. spec is written BASE..HEAD; an
// empty HEAD means the commit that is checked out. The policy is BASE's.
func Range(ctx context.Context, req Request, spec string) *finding.Report {
	return req.judge(ctx, "range", func(s *session) (*finding.Report, error) {
		base, head, err := s.rangeOf(ctx, spec)
		if err != nil {
			return nil, err
		}
		if err := s.findStandings(ctx, head, history.Own); err != nil {
			return nil, err
		}
		return s.checkAdded(ctx, head, gate.Range(ctx, s.repo, base, head, s.opts))
	})
}

// rangeOf finds the commits of BASE..HEAD, and takes the policy from BASE.
func (s *session) rangeOf(ctx context.Context, spec string) (base, head string, err error) {
	from, to, err := splitRange(spec)
	if err != nil {
		return "", "", err
	}
	if base, err = s.commit(ctx, from); err != nil {
		return "", "", err
	}
	if head, err = s.commit(ctx, to); err != nil {
		return "", "", err
	}
	return base, head, s.trust(ctx, base, from)
}

func splitRange(spec string) (base, head string, err error) {
	base, head, found := strings.Cut(spec, "..")
	switch {
	case strings.Contains(spec, "..."):
		return "", "", &failure.Error{
			Message: fmt.Sprintf("%q is a symmetric difference; a range has two dots", spec),
			Remedy:  "write BASE..HEAD, for example origin/main..HEAD",
		}
	case !found || base == "":
		return "", "", &failure.Error{
			Message: fmt.Sprintf("%q is not a range", spec),
			Remedy:  "write BASE..HEAD, for example origin/main..HEAD",
		}
	case head == "":
		head = "HEAD"
	}
	return base, head, nil
}

// Audit judges every commit of a revision's history (HEAD's by default), under its own policy.
func Audit(ctx context.Context, req Request, revision string) *finding.Report {
	return req.judge(ctx, "audit", func(s *session) (*finding.Report, error) {
		if revision == "" {
			revision = "HEAD"
			head, err := s.repo.Head(ctx)
			if err != nil {
				return nil, err
			}
			if head == "" {
				return s.auditNothing(ctx)
			}
		}
		head, err := s.commit(ctx, revision)
		if err != nil {
			return nil, err
		}
		if err := s.trust(ctx, head, revision); err != nil {
			return nil, err
		}
		if err := s.findStandings(ctx, head, history.Landed); err != nil {
			return nil, err
		}
		return gate.Audit(ctx, s.repo, head, s.opts), nil
	})
}

// auditNothing is the audit of a HEAD without commits: if no other ref has any, there is nothing to judge.
func (s *session) auditNothing(ctx context.Context) (*finding.Report, error) {
	tips, err := s.repo.Tips(ctx)
	if err != nil {
		return nil, err
	}
	if len(tips) == 0 {
		return run.Nothing(s.opts), nil
	}
	branch, err := s.repo.CurrentBranch(ctx)
	if err != nil {
		return nil, err
	}
	return nil, &failure.Error{
		Message: fmt.Sprintf("HEAD names %s, which has no commit, while other refs do", wording.Printable(branch)),
		Remedy:  "name what to audit: `small-hook audit REVISION`; on a server, correct HEAD: `git symbolic-ref HEAD refs/heads/NAME`",
	}
}

// MergeCheck predicts whether theirs would merge cleanly into ours: it compares their tips, and each with the merge base, and judges
// no commit. The policy is that of ours.
func MergeCheck(ctx context.Context, req Request, ours, theirs string) *finding.Report {
	return req.judge(ctx, "merge-check", func(s *session) (*finding.Report, error) {
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
