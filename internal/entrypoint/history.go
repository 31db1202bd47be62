package entrypoint

import (
	"context"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/wording"
)

// Range judges every commit that HEAD has and BASE lacks, then the two tips, then HEAD's snapshot. spec is written BASE..HEAD; an
// empty HEAD means the commit that is checked out. The policy is BASE's.
func Range(ctx context.Context, req session.Request, spec string) *finding.Report {
	return req.Judge(ctx, "range", func(s *session.Session) (*finding.Report, error) {
		base, head, err := rangeOf(ctx, s, spec)
		if err != nil {
			return nil, err
		}
		s.FindStandings(ctx, head)
		return s.CheckAdded(ctx, head, gate.Range(ctx, s.Repo, base, head, s.Opts))
	})
}

// rangeOf finds the commits of BASE..HEAD, and takes the policy from BASE.
func rangeOf(ctx context.Context, s *session.Session, spec string) (base, head string, err error) {
	from, to, err := splitRange(spec)
	if err != nil {
		return "", "", err
	}
	return bothOf(ctx, s, from, to)
}

// bothOf finds two commits, and takes the policy from the first.
func bothOf(ctx context.Context, s *session.Session, from, to string) (base, head string, err error) {
	if base, err = s.Commit(ctx, from); err != nil {
		return "", "", err
	}
	if head, err = s.Commit(ctx, to); err != nil {
		return "", "", err
	}
	return base, head, s.Trust(ctx, base, from)
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
func Audit(ctx context.Context, req session.Request, revision string) *finding.Report {
	return req.Judge(ctx, "audit", func(s *session.Session) (*finding.Report, error) {
		if revision == "" {
			revision = "HEAD"
			head, err := s.Repo.Head(ctx)
			if err != nil {
				return nil, err
			}
			if head == "" {
				return auditNothing(ctx, s)
			}
		}
		head, err := s.Commit(ctx, revision)
		if err != nil {
			return nil, err
		}
		if err := s.Trust(ctx, head, revision); err != nil {
			return nil, err
		}
		s.FindStandings(ctx, head)
		return gate.Audit(ctx, s.Repo, head, s.Opts), nil
	})
}

// auditNothing is the audit of a HEAD without commits: if no other ref has any, there is nothing to judge.
func auditNothing(ctx context.Context, s *session.Session) (*finding.Report, error) {
	tips, err := s.Repo.Tips(ctx)
	if err != nil {
		return nil, err
	}
	if len(tips) == 0 {
		r := run.Nothing(s.Opts)
		r.Examined.Notes = append(r.Examined.Notes, gate.NoLog)
		return r, nil
	}
	branch, err := s.Repo.CurrentBranch(ctx)
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
func MergeCheck(ctx context.Context, req session.Request, ours, theirs string) *finding.Report {
	return req.Judge(ctx, "merge-check", func(s *session.Session) (*finding.Report, error) {
		target, head, err := bothOf(ctx, s, ours, theirs)
		if err != nil {
			return nil, err
		}
		return gate.MergeCheck(ctx, s.Repo, target, head, ours, theirs, s.Opts), nil
	})
}

// SyncedCommits judges what head has and base lacks, under the policy of what it is to be pushed on top of.
func SyncedCommits(ctx context.Context, req session.Request, base, head, upstream string) *finding.Report {
	return req.Judge(ctx, "sync", func(s *session.Session) (*finding.Report, error) {
		head, err := s.Commit(ctx, head)
		if err == nil {
			err = s.Trust(ctx, upstream, "the remote's branch")
		}
		if err != nil {
			return nil, err
		}
		return s.CheckAdded(ctx, head, gate.Range(ctx, s.Repo, base, head, s.Opts))
	})
}
