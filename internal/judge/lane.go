package judge

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rules/lanes"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy/lane"
)

// FindLane finds the lane that fits a change, and judges nothing. spec is written BASE..TIP: the change is what TIP changes in BASE, and the policy is
// BASE's. If spec is empty, the change is what is staged, the policy is HEAD's, and the environment may claim a lane as it may for commit hooks.
func FindLane(ctx context.Context, req session.Request, spec string) (out *finding.LaneReport, err error) {
	mode, change := "range", spec
	if spec == "" {
		mode, change, req = preCommit, "what is staged, against HEAD", req.WithEnvironmentLane()
	}
	reader, err := req.InRepository(ctx, mode, func(s *session.Session) (err error) {
		if out, err = classifyChange(ctx, s, spec); err == nil {
			out.Change, out.Policy = change, s.Opts.Policy.Source
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Reader = reader
	return out, nil
}

// classifyChange finds the lane of the range spec; of the staged change if spec is empty.
func classifyChange(ctx context.Context, s *session.Session, spec string) (*finding.LaneReport, error) {
	if spec == "" {
		return classifyStaged(ctx, s)
	}
	base, head, err := resolveRange(ctx, s, spec)
	if err != nil {
		return nil, err
	}
	return lanes.Classify(ctx, s.Repo, base, head, s.Opts)
}

func classifyStaged(ctx context.Context, s *session.Session) (*finding.LaneReport, error) {
	head, parents, err := s.TrustHead(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := setBranchClaim(ctx, s, head); err != nil {
		return nil, err
	}
	return lanes.ClassifyPending(ctx, s.Repo, parents, s.Opts)
}

// setBranchClaim sets Opts.BranchClaim to the lane that the commits of the checked-out branch claim, if the configuration gives every change a lane.
// Without BranchClaim, the next commit on a branch whose commits claim a lane would be judged by the configuration's lane.
func setBranchClaim(ctx context.Context, s *session.Session, head string) error {
	if head == "" || s.Req.Lane != "" || !hasLane(s) {
		return nil
	}
	branch, err := githistory.DefaultBranch(ctx, s.Repo, "")
	if err != nil || branch.ID == "" || branch.ID == head {
		return err
	}
	s.Opts.BranchClaim, err = lanes.BranchClaim(ctx, s.Repo, branch.ID, head, s.Opts)
	return err
}

// hasLane reports whether the caller or the configuration gives the change a lane. Then the change has a lane even if none of its commits claims one.
func hasLane(s *session.Session) bool {
	return s.Req.Lane != "" || lane.Default(s.Opts.Policy) != "" || lane.SettingsIn(s.Opts.Policy).Minimum != ""
}
