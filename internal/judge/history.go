package judge

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/judge/session"
)

// Range judges a range of commits. spec is written BASE..TIP; an empty TIP means HEAD. Range judges every commit that TIP has and BASE lacks, then
// compares BASE with TIP, then judges TIP's files. The policy is BASE's.
func Range(ctx context.Context, req session.Request, spec string) *finding.Report {
	return req.Judge(ctx, "range", func(s *session.Session) (*finding.Report, error) {
		base, head, err := resolveRange(ctx, s, spec)
		if err != nil {
			return nil, err
		}
		_, tip, _ := strings.Cut(spec, "..")
		s.SetStandingsOf(ctx, head, cmp.Or(tip, "HEAD"))
		return s.CheckProposed(ctx, head, gate.Range(ctx, s.Repo, base, head, s.Opts))
	})
}

// resolveRange resolves both ends of spec, which is written BASE..TIP, and takes the policy from BASE.
func resolveRange(ctx context.Context, s *session.Session, spec string) (base, head string, err error) {
	from, to, err := splitRange(spec)
	if err != nil {
		return "", "", err
	}
	return resolveBaseAndHead(ctx, s, from, to)
}

// resolveBaseAndHead resolves two revisions, and takes the policy from the commit of the first one.
func resolveBaseAndHead(ctx context.Context, s *session.Session, from, to string) (base, head string, err error) {
	if base, err = s.ResolveCommit(ctx, from); err != nil {
		return "", "", err
	}
	if head, err = s.ResolveCommit(ctx, to); err != nil {
		return "", "", err
	}
	return base, head, s.Trust(ctx, base, from)
}

// splitRange splits BASE..TIP into two revisions; an empty TIP becomes HEAD.
func splitRange(spec string) (base, head string, err error) {
	base, head, _ = strings.Cut(spec, "..")
	problem := ""
	switch {
	case strings.Contains(spec, "..."):
		problem = "is a symmetric difference; a range has two dots"
	case base == "" || base == spec:
		problem = "is not a range"
	default:
		return base, cmp.Or(head, "HEAD"), nil
	}
	return "", "", &failure.Error{Message: fmt.Sprintf("%q %s", spec, problem), Remedy: "write BASE..HEAD, for example origin/main..HEAD"}
}

// Audit judges every commit of a revision's history, by default HEAD's. The policy is the revision's.
func Audit(ctx context.Context, req session.Request, revision string) *finding.Report {
	return req.Judge(ctx, "audit", func(s *session.Session) (*finding.Report, error) {
		if revision == "" {
			revision = "HEAD"
			head, err := s.Repo.Head(ctx)
			if err != nil {
				return nil, err
			}
			if head == "" {
				return auditUnbornHead(ctx, s)
			}
		}
		head, err := s.ResolveCommit(ctx, revision)
		if err != nil {
			return nil, err
		}
		if err := s.Trust(ctx, head, revision); err != nil {
			return nil, err
		}
		s.SetStandingsOf(ctx, head, revision)
		return gate.Audit(ctx, s.Repo, head, s.Opts), nil
	})
}

// auditUnbornHead audits a repository whose HEAD names a branch without commits. If no ref has a commit, the report is empty; else auditUnbornHead
// fails.
func auditUnbornHead(ctx context.Context, s *session.Session) (*finding.Report, error) {
	tips, err := s.Repo.Tips(ctx)
	if err != nil {
		return nil, err
	}
	if len(tips) == 0 {
		if err := s.Trust(ctx, "", "an empty repository"); err != nil {
			return nil, err
		}
		r := run.EmptyReport(s.Opts)
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

// CommitsToSync judges the commits that head has and base lacks, before sync pushes them. upstream is the tip of the remote's branch: sync rebases these
// commits onto it, or merges them with it. The policy is upstream's.
func CommitsToSync(ctx context.Context, req session.Request, base, head, upstream string) *finding.Report {
	return req.Judge(ctx, "sync", func(s *session.Session) (*finding.Report, error) {
		head, err := s.ResolveCommit(ctx, head)
		if err == nil {
			err = s.Trust(ctx, upstream, "the remote's branch")
		}
		if err != nil {
			return nil, err
		}
		return s.CheckProposed(ctx, head, gate.Range(ctx, s.Repo, base, head, s.Opts))
	})
}
