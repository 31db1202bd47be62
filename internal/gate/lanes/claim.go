package lanes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/lane"
)

// laneFinder finds out which lane a change claims, and which one fits.
type laneFinder struct{ *run.Run }

// claimLaneOf finds the lane of what head has gained since it parted from base.
func (r laneFinder) claimLaneOf(ctx context.Context, base, head string, ends bool, commits []history.Commit) error {
	bases, err := r.Source.History.MergeBases(ctx, base, head)
	if err != nil {
		return err
	}
	return r.claimLane(ctx, &subject.LaneChange{Bases: bases, Target: base, Head: head, Complete: ends, Commits: commits})
}

// ClaimRange finds the lane that a range claims.
func ClaimRange(ctx context.Context, r *run.Run) error {
	return laneFinder{r}.claimLaneOf(ctx, r.Scope.Base.ID, r.Scope.Tip.ID, true, r.Scope.Commits)
}

// ClaimPushed finds the lane of what a push brings: on another branch than the default one, since the default
// branch. A whole history is no change in a lane.
func ClaimPushed(ctx context.Context, r *run.Run) error {
	u := r.Scope.Update
	base, ends := cmp.Or(u.Target.ID, u.Old), u.Target.ID == ""
	if base == "" && len(u.Known) == 1 {
		base = u.Known[0]
	}
	if base == "" {
		return nil
	}
	commits, err := r.Source.Commits(ctx, []string{u.New}, []string{base})
	if err != nil {
		return err
	}
	steps := []landing{{base: base, head: u.New, commits: commits}}
	if ends && r.Options.Lane == "" {
		steps = splitQueue(commits, base, u.New)
	}
	for _, step := range steps {
		if err := (laneFinder{r}).claimLaneOf(ctx, step.base, step.head, ends, step.commits); err != nil {
			return err
		}
	}
	return nil
}

// ClaimIndex finds the lane of the index, which has no message yet.
func ClaimIndex(ctx context.Context, r *run.Run) error {
	parents := r.Scope.Parents
	return laneFinder{r}.claimLane(ctx, &subject.LaneChange{Bases: parents, Head: history.Index, Commits: []history.Commit{{ID: history.Index, Parents: parents}}})
}

// Claimed is the lane claimed for what the index will become part of: the commits that head has and base lacks.
func Claimed(ctx context.Context, h history.History, base, head string, parents []string, opts run.Options) (lane.Claim, error) {
	r := run.New(h, opts, run.Scope{})
	s := &subject.LaneChange{Bases: parents, Target: base, Head: history.Index}
	if base != "" && head != "" && base != head {
		var err error
		if s.Commits, err = r.Source.Commits(ctx, []string{head}, []string{base}); err != nil {
			return lane.Claim{}, err
		}
		if s.Bases, err = h.MergeBases(ctx, base, head); err != nil {
			return lane.Claim{}, err
		}
	}
	s.Commits = append(s.Commits, history.Commit{ID: history.Index, Parents: parents})
	err := laneFinder{r}.findClaim(ctx, s)
	return s.Claim, err
}

// BranchClaim is what the commits claim that head has and base lacks.
func BranchClaim(ctx context.Context, h history.History, base, head string, opts run.Options) (lane.Claim, error) {
	r := run.New(h, opts, run.Scope{})
	commits, err := r.Source.Commits(ctx, []string{head}, []string{base})
	if err != nil {
		return lane.Claim{}, err
	}
	if err := (laneFinder{r}).claimLaneOf(ctx, base, head, false, commits); err != nil {
		return lane.Claim{}, err
	}
	return r.Scope.Lanes[0].ClaimAt[head], nil
}

// claimLane finds the claim that counts, and has everything from here on judged with the rigour of its lane.
func (r laneFinder) claimLane(ctx context.Context, s *subject.LaneChange) error {
	if err := r.findClaim(ctx, s); err != nil {
		return err
	}
	r.Scope.Lanes = append(r.Scope.Lanes, s)
	r.Collector.AddLane(run.LaneRigour{Lane: s.Claim.Lane, Rigour: s.Rigour, Commits: s.Commits})
	return nil
}

func (r laneFinder) findClaim(ctx context.Context, s *subject.LaneChange) error {
	changes, err := r.Source.Changes(ctx, history.EdgesOf(s.Head, s.Bases))
	if err != nil {
		return err
	}
	var upstream lane.Claim
	if upstream, s.JobSwitched, err = r.jobClaims(ctx, changes); err != nil {
		return err
	}
	if s.Entries, err = r.addedEntries(ctx, history.Commit{ID: s.Head, Parents: s.Bases}, changes); err != nil {
		return err
	}
	said, err := r.findSwitches(ctx, s)
	if err != nil {
		return err
	}
	s.LaneClaims = followLanes(s.Commits, said)
	labelled, unknown := labelClaim(r.Options.Labels)
	caller, _ := lane.Parse(r.Options.Lane)
	configured, _ := lane.Parse(r.Source.Policy.Lane)
	own := s.ClaimAt[s.Head]
	if s.Head == history.Index && !own.Made() {
		own = r.Options.BranchClaim
	}
	claims := []lane.Claim{
		{Lane: caller, Source: r.Options.Caller()},
		atLeast(own, upstream),
		atLeast(labelled, upstream),
		upstream,
		{Lane: configured, Source: lane.FromPolicy},
	}
	if first := slices.IndexFunc(claims, lane.Claim.Made); first >= 0 {
		s.Claim = claims[first]
	}
	if s.Claim.Commit == history.Index {
		s.Claim.Commit = ""
	}
	if least, _ := lane.Parse(r.Source.Policy.Lanes.Minimum); s.Claim.Lane.Less(least) {
		documents, err := r.documentsAlone(ctx, s)
		if err != nil {
			return err
		}
		if !documents {
			s.Claim = lane.Claim{Lane: least, Source: lane.FromPolicy}
		}
	}
	s.Unknown = append(s.Unknown, unknown...)
	s.Rigour = r.Source.Policy.Lanes.Rigour(string(s.Claim.Lane))
	return nil
}

// atLeast is a claim, unless upstream decided on a stricter lane.
func atLeast(claim, upstream lane.Claim) lane.Claim {
	if claim.Made() && claim.Lane.Less(upstream.Lane) {
		return upstream
	}
	return claim
}

// labelClaim is the strictest lane that a pull request's labels name.
func labelClaim(labels []string) (claim lane.Claim, unknown []subject.UnknownLane) {
	for _, label := range labels {
		name, _ := strings.CutPrefix(label, lane.LabelPrefix)
		l, ok := lane.Parse(name)
		if !ok {
			unknown = append(unknown, subject.UnknownLane{Name: name})
			continue
		}
		claim = lane.Claim{Lane: lane.Stricter(claim.Lane, l), Source: lane.FromLabel}
	}
	return claim, unknown
}

// followLanes follows the claims of commits, parents first: their trailers, and the lanes named by their last
// lane-switch entries. Of several claims of one commit the strictest counts; a commit without one keeps the
// strictest lane of its parents.
func followLanes(commits []history.Commit, said map[string]string) subject.LaneClaims {
	t := subject.LaneClaims{ClaimAt: map[string]lane.Claim{}, StrictestAt: map[string]lane.Claim{}}
	for _, c := range commits {
		var own, before, most lane.Claim
		var unknown []subject.UnknownLane
		claim := func(name string, source lane.Source) {
			switch l, ok := lane.Parse(name); {
			case !ok:
				unknown = append(unknown, subject.UnknownLane{Name: name, Commit: c.ID})
			case !l.Less(own.Lane):
				own = lane.Claim{Lane: l, Source: source, Commit: c.ID}
			}
		}
		if name := said[c.ID]; name != "" {
			claim(name, lane.FromEntry)
		}
		for _, name := range c.Lanes {
			claim(name, lane.FromTrailer)
		}
		for _, p := range c.Parents {
			before, most = stricterClaim(before, t.ClaimAt[p]), stricterClaim(most, t.StrictestAt[p])
		}
		if !own.Made() {
			own = before
		}
		t.ClaimAt[c.ID], t.StrictestAt[c.ID] = own, stricterClaim(most, own)
		if own.Commit == c.ID {
			t.Unknown = nil
		}
		t.Unknown = append(t.Unknown, unknown...)
	}
	return t
}

// stricterClaim is the second claim if its lane is stricter.
func stricterClaim(a, b lane.Claim) lane.Claim {
	if a.Lane.Less(b.Lane) {
		return b
	}
	return a
}

// counts reports whether lanes take a path into account.
func (r laneFinder) counts(path string) bool {
	return lane.Counts(path) && !r.Source.Policy.JudgesRecord(path)
}

// isWork reports whether a change counts and is no document.
func (r laneFinder) isWork(c history.Change) bool {
	return r.counts(c.Path) && !lane.IsDocument(c.Path, &r.Source.Policy.Lanes)
}

// documentsAlone reports whether a change touches only documents, of what counts.
func (r laneFinder) documentsAlone(ctx context.Context, s *subject.LaneChange) (bool, error) {
	touched, err := r.changedFiles(ctx, s)
	return !slices.ContainsFunc(touched, r.isWork), err
}
