package entrypoint

import (
	"bytes"
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
)

// FindLane finds the lane that fits what spec, written BASE..HEAD, brings;
// without a spec, what is staged against HEAD, whose lane the variable of commit
// hooks may claim. It judges nothing. The policy is BASE's, or HEAD's.
func FindLane(ctx context.Context, req Request, spec string) (*gate.LaneReport, error) {
	var out *gate.LaneReport
	mode, change := "range", spec
	if spec == "" {
		mode, change, req = "pre-commit", "what is staged, against HEAD", req.withLane()
	}
	r := inRepository(ctx, req, mode, func(s *session) (*gate.Report, error) {
		var err error
		if spec == "" {
			out, err = s.stagedLane(ctx)
		} else {
			out, err = s.rangeLane(ctx, spec)
		}
		if err != nil {
			return nil, err
		}
		out.Change, out.Policy = change, s.opts.Policy.Source
		return gate.Nothing(s.opts), nil
	})
	if r.Failure != nil {
		return nil, r.Failure
	}
	out.Reader = r.Examined.Reader
	return out, nil
}

func (s *session) rangeLane(ctx context.Context, spec string) (*gate.LaneReport, error) {
	base, head, err := s.rangeOf(ctx, spec)
	if err != nil {
		return nil, err
	}
	return gate.Classify(ctx, s.repo, base, head, s.opts)
}

func (s *session) stagedLane(ctx context.Context) (*gate.LaneReport, error) {
	head, err := s.repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	others, err := s.repo.MergeHeads(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.trustHead(ctx, head); err != nil {
		return nil, err
	}
	if err := s.claimOfBranch(ctx, head); err != nil {
		return nil, err
	}
	return gate.ClassifyPending(ctx, s.repo, parentsOf(head, others), s.opts)
}

// laneVariable claims a lane in a commit's hooks, where there is no message yet
// whose trailer could, and no way to hand a flag to them; and in CI, where
// variables are set for a whole job.
const laneVariable = "SMALL_LANE"

// withLane takes the lane from the environment where the caller claims none.
func (r Request) withLane() Request {
	if r.Lane == "" {
		r.Lane = lookup(r.Environ, laneVariable)
		if r.Lane != "" {
			r.LaneFrom = lane.FromEnvironment
		}
	}
	return r
}

// laneList lists the lanes for a message.
var laneList = policy.LaneNames[0] + ", " + policy.LaneNames[1] + " or " + policy.LaneNames[2]

// claimedLane is the lane that the caller claims, as lanes are spelt; empty for
// none. A claim that names no lane is an error.
func (r Request) claimedLane() (string, error) {
	l, ok := lane.Parse(r.Lane)
	switch {
	case ok:
		return string(l), nil
	case r.Lane == "":
		return "", nil
	case r.LaneFrom == lane.FromInput:
		return "", &gate.Failure{Message: fmt.Sprintf("there is no lane %q, which the input lane names", r.Lane), Remedy: "give the input lane " + laneList + ", or leave it out"}
	case r.LaneFrom == lane.FromEnvironment:
		return "", &gate.Failure{
			Message: fmt.Sprintf("there is no lane %q, which the variable %s names", r.Lane, laneVariable),
			Remedy:  fmt.Sprintf("set %s to %s, or take it out of the environment: unset %[1]s", laneVariable, laneList),
		}
	}
	return "", &gate.Failure{Message: fmt.Sprintf("there is no lane %q", r.Lane), Remedy: "use --lane " + laneList}
}

// claimOfBranch finds what the branch claims that the index goes on, where the
// configuration gives every change a lane: its default would send back each commit of
// a branch that has claimed another.
func (s *session) claimOfBranch(ctx context.Context, head string) error {
	if head == "" || s.req.Lane != "" || !s.laneGiven() {
		return nil
	}
	branch, err := s.repo.DefaultBranch(ctx, "")
	if err != nil || branch.ID == "" || branch.ID == head {
		return err
	}
	s.opts.BranchClaim, err = gate.BranchClaim(ctx, s.repo, branch.ID, head, s.opts)
	return err
}

// laneGiven reports whether the caller or the configuration gives every change a lane.
func (s *session) laneGiven() bool {
	return s.req.Lane != "" || s.opts.Policy.Lane != "" || s.opts.Policy.Lanes.Minimum != ""
}

// laneClaimed reports whether a commit that touches nothing else of interest may
// have to be judged by its lane all the same: the caller claims one, or the
// configuration speaks of lanes. One that cannot be read is for who judges to
// tell.
func (s *session) laneClaimed(ctx context.Context, head string) bool {
	if s.req.Lane != "" {
		return true
	}
	data, err := s.peek(ctx, head)
	return err != nil || bytes.Contains(data, []byte("lane"))
}
