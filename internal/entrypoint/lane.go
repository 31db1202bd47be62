package entrypoint

import (
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/lanes"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
)

// FindLane finds the lane that fits the change of spec, written BASE..HEAD; without a spec, the change that is staged, whose lane the
// variable of commit hooks may claim. It judges nothing. The policy is BASE's, or HEAD's.
func FindLane(ctx context.Context, req Request, spec string) (out *finding.LaneReport, err error) {
	mode, change, find := "range", spec, func(s *session) (*finding.LaneReport, error) { return s.rangeLane(ctx, spec) }
	if spec == "" {
		mode, change, req = "pre-commit", "what is staged, against HEAD", req.withLane()
		find = func(s *session) (*finding.LaneReport, error) { return s.stagedLane(ctx) }
	}
	reader, err := req.inRepository(ctx, mode, func(s *session) (err error) {
		if out, err = find(s); err == nil {
			out.Change, out.Policy = change, s.opts.Policy.Source
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Reader = reader
	return out, nil
}

func (s *session) rangeLane(ctx context.Context, spec string) (*finding.LaneReport, error) {
	base, head, err := s.rangeOf(ctx, spec)
	if err != nil {
		return nil, err
	}
	return lanes.Classify(ctx, s.repo, base, head, s.opts)
}

func (s *session) stagedLane(ctx context.Context) (*finding.LaneReport, error) {
	head, parents, err := s.trustHead(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := s.claimOfBranch(ctx, head); err != nil {
		return nil, err
	}
	return lanes.ClassifyPending(ctx, s.repo, parents, s.opts)
}

// laneVariable claims a lane in a commit's hooks, which get no flags and see no message yet, and in CI for a whole job.
const laneVariable = "SMALL_LANE"

// withLane takes the lane from the environment where the caller claims none.
func (r Request) withLane() Request {
	if r.Lane == "" {
		r.Lane = r.getenv(laneVariable)
		if r.Lane != "" {
			r.LaneFrom = lane.FromEnvironment
		}
	}
	return r
}

var laneList = policy.LaneNames[0] + ", " + policy.LaneNames[1] + " or " + policy.LaneNames[2]

// claimedLane is the lane that the caller claims, as lanes are spelt; empty for none.
func (r Request) claimedLane() (string, error) {
	l, ok := lane.Parse(r.Lane)
	switch {
	case ok:
		return string(l), nil
	case r.Lane == "":
		return "", nil
	case r.LaneFrom == lane.FromInput:
		return "", &failure.Error{Message: fmt.Sprintf("there is no lane %q, which the input lane names", r.Lane), Remedy: "set the input lane to " + laneList + ", or leave it out"}
	case r.LaneFrom == lane.FromEnvironment:
		return "", &failure.Error{
			Message: fmt.Sprintf("there is no lane %q, which the variable %s names", r.Lane, laneVariable),
			Remedy:  fmt.Sprintf("set %s to %s, or `unset %[1]s`", laneVariable, laneList),
		}
	}
	return "", &failure.Error{Message: fmt.Sprintf("there is no lane %q", r.Lane), Remedy: "use --lane " + laneList}
}

// claimOfBranch finds the lane that the branch has claimed, if the configuration gives every change a lane: its default would reject
// the commits of a branch that has claimed another.
func (s *session) claimOfBranch(ctx context.Context, head string) error {
	if head == "" || s.req.Lane != "" || !s.laneGiven() {
		return nil
	}
	branch, err := githistory.DefaultBranch(ctx, s.repo, "")
	if err != nil || branch.ID == "" || branch.ID == head {
		return err
	}
	s.opts.BranchClaim, err = lanes.BranchClaim(ctx, s.repo, branch.ID, head, s.opts)
	return err
}

// laneGiven reports whether the caller or the configuration gives every change a lane.
func (s *session) laneGiven() bool {
	return s.req.Lane != "" || s.opts.Policy.Lane != "" || s.opts.Policy.Lanes.Minimum != ""
}
