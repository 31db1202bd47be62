package gate

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// lanes find out which lane a change claims, and which one fits.
type lanes struct{ *run }

// LaneReport is what is known of a change's lane.
type LaneReport struct {
	// Claim is who claims which lane; the zero Claim for nobody.
	Claim lane.Claim
	// Signals are what the change shows, and Fits is the lane with the least rigour
	// that allows them all.
	Signals []lane.Signal
	Fits    lane.Lane
	// Change says in words what was looked at, Policy where the configuration came
	// from, and Reader what read the repository: where only the lane was asked for.
	Change, Policy, Reader string
}

// LaneChange is a change and what is known of its lane.
type LaneChange struct {
	Place
	// bases are where the change began, none for one that began with nothing;
	// target is what it parted from, as it is now, empty for the index.
	bases        []string
	target, head string
	// ends is true if the change is complete, so that what it has to bring must
	// be there: not for the index, and not for a branch that work goes on in.
	ends bool
	// commits are those of the change, parents before children; the index is one.
	commits []Commit

	claim  lane.Claim
	rigour policy.Rigour
	// entries are what the change adds to its logs; brought are the commits that
	// add each of them, once somebody has asked.
	entries []laneEntry
	brought map[small.Digest][]string
	// touched are the files that count, once somebody has asked.
	touched []Change
	laneTrail
	// switchedTo are the lanes that entries switch to, and jobSwitched is true where a
	// job's record has a new switch.
	switchedTo  []lane.Lane
	jobSwitched bool

	// What follows is there for the rules.

	// report is nil where no lane is claimed.
	report *LaneReport
	// log is the path of a log in which something can be recorded; empty where the
	// head has none.
	log string
	// workspaceless is true where the head has no log and the lane that fits requires
	// entries.
	workspaceless bool
	// before and after are the patterns of the entries that are asked of the change.
	before, after []string
	// work are the commits that do the change's work: those that touch a file that
	// counts and is no document, but for merges.
	work []workCommit
	// untried, in an audit, are the patterns that nothing met here or later.
	untried []string
}

// unknownLane is a name that is no lane's: of the trailer of a commit, or of a
// label.
type unknownLane struct{ name, commit string }

// claimLaneOf finds the lane that a change claims: what head has got since it
// parted from base.
func (r lanes) claimLaneOf(ctx context.Context, base, head string, ends bool, commits []Commit) error {
	bases, err := r.src.history.MergeBases(ctx, base, head)
	if err != nil {
		return err
	}
	return r.claimLane(ctx, &LaneChange{bases: bases, target: base, head: head, ends: ends, commits: commits})
}

// claimRange finds the lane that a range claims.
func claimRange(r *run, ctx context.Context) error {
	return lanes{r}.claimLaneOf(ctx, r.scope.base.ID, r.scope.tip.ID, true, r.scope.commits)
}

// claimPushed finds the lane of what a push brings: since the default branch, for
// another branch. A whole history is no change in a lane.
func claimPushed(r *run, ctx context.Context) error {
	u := r.scope.update
	base, ends := cmp.Or(u.Target.ID, u.Old), u.Target.ID == ""
	if base == "" && len(u.Known) == 1 {
		base = u.Known[0]
	}
	if base == "" {
		return nil
	}
	commits, err := r.src.history.Commits(ctx, []string{u.New}, []string{base})
	if err != nil {
		return err
	}
	steps := []landing{{base: base, head: u.New, commits: commits}}
	if ends && r.opts.Lane == "" {
		steps = queue(commits, base, u.New)
	}
	for _, step := range steps {
		if err := (lanes{r}).claimLaneOf(ctx, step.base, step.head, ends, step.commits); err != nil {
			return err
		}
	}
	return nil
}

// claimPending finds the lane of what is about to be committed. There is no
// message yet whose trailer could say it.
func claimPending(r *run, ctx context.Context) error {
	parents := r.scope.parents
	return lanes{r}.claimLane(ctx, &LaneChange{bases: parents, head: Index, commits: []Commit{{ID: Index, Parents: parents}}})
}

// ClaimedLane is the lane that is claimed for what the index is about to become
// part of: the commits that head has and base lacks, if there are any.
func ClaimedLane(ctx context.Context, h History, base, head string, parents []string, opts Options) (lane.Claim, error) {
	s := &LaneChange{bases: parents, target: base, head: Index}
	if base != "" && head != "" && base != head {
		var err error
		if s.commits, err = h.Commits(ctx, []string{head}, []string{base}); err != nil {
			return lane.Claim{}, err
		}
		if s.bases, err = h.MergeBases(ctx, base, head); err != nil {
			return lane.Claim{}, err
		}
	}
	s.commits = append(s.commits, Commit{ID: Index, Parents: parents})
	err := lanes{newRun(h, opts, scope{})}.findClaim(ctx, s)
	return s.claim, err
}

// BranchClaim is what the commits claim that head has and base lacks.
func BranchClaim(ctx context.Context, h History, base, head string, opts Options) (lane.Claim, error) {
	commits, err := h.Commits(ctx, []string{head}, []string{base})
	if err != nil {
		return lane.Claim{}, err
	}
	r := newRun(h, opts, scope{})
	if err := (lanes{r}).claimLaneOf(ctx, base, head, false, commits); err != nil {
		return lane.Claim{}, err
	}
	return r.scope.lanes[0].at[head], nil
}

// claimLane finds the claim that counts, and has what is judged from here on
// judged with the rigour of its lane.
func (r lanes) claimLane(ctx context.Context, s *LaneChange) error {
	if err := r.findClaim(ctx, s); err != nil {
		return err
	}
	r.scope.lanes = append(r.scope.lanes, s)
	r.out.demand(laneRigour{lane: s.claim.Lane, rigour: s.rigour, commits: s.commits})
	return nil
}

// claimed reports whether anybody claims a lane for the change.
func (s *LaneChange) claimed() bool { return s.claim.Made() || len(s.unknown) > 0 }

// findClaim finds what is claimed of a change, and by whom.
func (r lanes) findClaim(ctx context.Context, s *LaneChange) error {
	changes, err := r.src.history.Changes(ctx, EdgesOf(s.head, s.bases))
	if err != nil {
		return err
	}
	var upstream lane.Claim
	if upstream, s.jobSwitched, err = r.laneJobs(ctx, changes); err != nil {
		return err
	}
	if s.entries, err = r.addedEntries(ctx, Commit{ID: s.head, Parents: s.bases}, changes); err != nil {
		return err
	}
	said, err := r.findSwitches(ctx, s)
	if err != nil {
		return err
	}
	s.laneTrail = followLanes(s.commits, said)
	labelled, unknown := labelClaim(r.opts.Labels)
	caller, _ := lane.Parse(r.opts.Lane)
	configured, _ := lane.Parse(r.src.policy.Lane)
	own := s.at[s.head]
	if s.head == Index && !own.Made() {
		own = r.opts.BranchClaim
	}
	claims := []lane.Claim{
		{Lane: caller, Source: r.opts.caller()},
		atLeast(own, upstream),
		atLeast(labelled, upstream),
		upstream,
		{Lane: configured, Source: lane.FromPolicy},
	}
	if first := slices.IndexFunc(claims, lane.Claim.Made); first >= 0 {
		s.claim = claims[first]
	}
	if s.claim.Commit == Index {
		s.claim.Commit = ""
	}
	if least, _ := lane.Parse(r.src.policy.Lanes.Minimum); s.claim.Lane.Less(least) {
		documents, err := r.documentsAlone(ctx, s)
		if err != nil {
			return err
		}
		if !documents {
			s.claim = lane.Claim{Lane: least, Source: lane.FromPolicy}
		}
	}
	s.unknown = append(s.unknown, unknown...)
	s.rigour = r.src.policy.Lanes.Rigour(string(s.claim.Lane))
	return nil
}

// atLeast is a claim, unless upstream has decided on a lane with more rigour.
func atLeast(claim, upstream lane.Claim) lane.Claim {
	if claim.Made() && claim.Lane.Less(upstream.Lane) {
		return upstream
	}
	return claim
}

// labelClaim is the strictest lane that a pull request's labels name.
func labelClaim(labels []string) (claim lane.Claim, unknown []unknownLane) {
	for _, label := range labels {
		name, _ := strings.CutPrefix(label, lane.LabelPrefix)
		l, ok := lane.Parse(name)
		if !ok {
			unknown = append(unknown, unknownLane{name: name})
			continue
		}
		claim = lane.Claim{Lane: lane.Stricter(claim.Lane, l), Source: lane.FromLabel}
	}
	return claim, unknown
}

// laneTrail is what a change's commits claim, one after the other.
type laneTrail struct {
	// at is the claim that holds in each commit, most the strictest one so far.
	at, most map[string]lane.Claim
	// unknown are the names that no later claim corrects.
	unknown []unknownLane
}

// followLanes follows the claims of commits, which are given parents first: their
// trailers, and the names that the last entry for a switch gives. Of several claims of
// one commit the strictest counts; a commit without one goes on in the strictest lane
// of its parents.
func followLanes(commits []Commit, said map[string]string) laneTrail {
	t := laneTrail{at: map[string]lane.Claim{}, most: map[string]lane.Claim{}}
	for _, c := range commits {
		var own, before, most lane.Claim
		var unknown []unknownLane
		claim := func(name string, source lane.Source) {
			switch l, ok := lane.Parse(name); {
			case !ok:
				unknown = append(unknown, unknownLane{name: name, commit: c.ID})
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
			before, most = stricterClaim(before, t.at[p]), stricterClaim(most, t.most[p])
		}
		if !own.Made() {
			own = before
		}
		t.at[c.ID], t.most[c.ID] = own, stricterClaim(most, own)
		if own.Commit == c.ID {
			t.unknown = nil
		}
		t.unknown = append(t.unknown, unknown...)
	}
	return t
}

// stricterClaim is the second of two claims if its lane has more rigour.
func stricterClaim(a, b lane.Claim) lane.Claim {
	if a.Lane.Less(b.Lane) {
		return b
	}
	return a
}

// judgeLanes compares each change with the lane that it claims. The report has the
// strictest.
func judgeLanes(r *run, ctx context.Context) error {
	var strictest *LaneChange
	for _, s := range r.scope.lanes {
		if !s.claimed() {
			continue
		}
		if err := (lanes{r}).examineLane(ctx, s); err != nil {
			return err
		}
		if strictest == nil || strictest.claim.Lane.Less(s.claim.Lane) {
			strictest = s
			r.out.report.Lane = s.report
		}
		s.Commit = s.head
		if len(s.bases) > 0 {
			s.Parent = s.bases[0]
		}
		r.out.judge(s)
	}
	return nil
}

// counts reports whether a path is one of those that a lane is about.
func (r lanes) counts(path string) bool {
	return lane.Counts(path) && !r.src.policy.JudgesRecord(path)
}

// isWork reports whether what differs counts and is no document.
func (r lanes) isWork(c Change) bool {
	return r.counts(c.Path) && !lane.IsDocument(c.Path, &r.src.policy.Lanes)
}

// documentsAlone reports whether a change touches nothing that counts but documents.
func (r lanes) documentsAlone(ctx context.Context, s *LaneChange) (bool, error) {
	touched, err := r.touchedFiles(ctx, s)
	return !slices.ContainsFunc(touched, r.isWork), err
}
