package gate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

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

// laneState is a change and what is known of its lane.
type laneState struct {
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
func (j *judgement) claimLaneOf(ctx context.Context, base, head string, ends bool, commits []Commit) error {
	bases, err := j.history.MergeBases(ctx, base, head)
	if err != nil {
		return err
	}
	return j.claimLane(ctx, &laneState{bases: bases, target: base, head: head, ends: ends, commits: commits})
}

// claimPushed finds the lane of what a push brings: since the default branch, for
// another branch. A whole history is no change in a lane.
func (j *judgement) claimPushed(ctx context.Context, u Update) error {
	base, ends := cmp.Or(u.Target.ID, u.Old), u.Target.ID == ""
	if base == "" && len(u.Known) == 1 {
		base = u.Known[0]
	}
	if base == "" {
		return nil
	}
	commits, err := j.history.Commits(ctx, []string{u.New}, []string{base})
	if err != nil {
		return err
	}
	steps := []landing{{base: base, head: u.New, commits: commits}}
	if ends && j.opts.Lane == "" {
		steps = queue(commits, base, u.New)
	}
	for _, step := range steps {
		if err := j.claimLaneOf(ctx, step.base, step.head, ends, step.commits); err != nil {
			return err
		}
	}
	return nil
}

// claimPending finds the lane of what is about to be committed. There is no
// message yet whose trailer could say it.
func (j *judgement) claimPending(ctx context.Context, parents []string) error {
	return j.claimLane(ctx, &laneState{bases: parents, head: Index, commits: []Commit{{ID: Index, Parents: parents}}})
}

// ClaimedLane is the lane that is claimed for what the index is about to become
// part of: the commits that head has and base lacks, if there are any.
func ClaimedLane(ctx context.Context, h History, base, head string, parents []string, opts Options) (lane.Claim, error) {
	s := &laneState{bases: parents, target: base, head: Index}
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
	err := newJudgement(h, opts).findClaim(ctx, s)
	return s.claim, err
}

// BranchClaim is what the commits claim that head has and base lacks.
func BranchClaim(ctx context.Context, h History, base, head string, opts Options) (lane.Claim, error) {
	commits, err := h.Commits(ctx, []string{head}, []string{base})
	if err != nil {
		return lane.Claim{}, err
	}
	j := newJudgement(h, opts)
	if err := j.claimLaneOf(ctx, base, head, false, commits); err != nil {
		return lane.Claim{}, err
	}
	return j.lanes[0].at[head], nil
}

// claimLane finds the claim that counts, and has what is judged from here on
// judged with the rigour of its lane.
func (j *judgement) claimLane(ctx context.Context, s *laneState) error {
	if err := j.findClaim(ctx, s); err != nil {
		return err
	}
	j.lanes = append(j.lanes, s)
	if !s.claim.Made() && len(s.unknown) == 0 {
		return nil
	}
	if j.lane == nil || j.lane.claim.Lane.Less(s.claim.Lane) {
		j.lane = s
	}
	j.opts.Strict = j.opts.Strict || s.rigour.Strict
	j.report.Strict = j.opts.strict()
	return nil
}

// findClaim finds what is claimed of a change, and by whom.
func (j *judgement) findClaim(ctx context.Context, s *laneState) error {
	changes, err := j.history.Changes(ctx, EdgesOf(s.head, s.bases))
	if err != nil {
		return err
	}
	var upstream lane.Claim
	if upstream, s.jobSwitched, err = j.laneJobs(ctx, changes); err != nil {
		return err
	}
	if s.entries, err = j.addedEntries(ctx, node{id: s.head, parents: s.bases}, changes); err != nil {
		return err
	}
	said, err := j.findSwitches(ctx, s)
	if err != nil {
		return err
	}
	s.laneTrail = followLanes(s.commits, said)
	labelled, unknown := labelClaim(j.opts.Labels)
	caller, _ := lane.Parse(j.opts.Lane)
	configured, _ := lane.Parse(j.opts.Policy.Lane)
	own := s.at[s.head]
	if s.head == Index && !own.Made() {
		own = j.opts.BranchClaim
	}
	claims := []lane.Claim{
		{Lane: caller, Source: j.opts.caller()},
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
	if least, _ := lane.Parse(j.opts.Policy.Lanes.Minimum); s.claim.Lane.Less(least) {
		documents, err := j.documentsAlone(ctx, s)
		if err != nil {
			return err
		}
		if !documents {
			s.claim = lane.Claim{Lane: least, Source: lane.FromPolicy}
		}
	}
	s.unknown = append(s.unknown, unknown...)
	s.rigour = j.opts.Policy.Lanes.Rigour(string(s.claim.Lane))
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

// rigourOf is what the lane demands that a commit is in; where nobody knows, the
// strictest of what is judged. nil for a commit in none.
func (j *judgement) rigourOf(commit string) *laneState {
	if len(j.lanes) > 1 {
		for _, s := range j.lanes {
			if slices.ContainsFunc(s.commits, func(c Commit) bool { return c.ID == commit }) {
				return s
			}
		}
	}
	return j.lane
}

// level is the level of a rule: what the configuration gives it, raised by what
// a lane demands; nil for none.
func (j *judgement) level(rule string, in *laneState) policy.Level {
	level := j.opts.Policy.Rules[rule]
	if in == nil {
		return level
	}
	raised := in.rigour.Rules[rule]
	if in.rigour.NoInsertions && rule == ruleReconciledInsertion.ID {
		raised = policy.Error
	}
	if raised == policy.Error || raised == policy.Warning && level == policy.Off {
		return raised
	}
	return level
}

// forbidInsertion says what to do about an insertion that is made explicit and
// is an error all the same.
func forbidInsertion(f *Finding, in *laneState) {
	f.Fix = "make the commit anew so that nothing stands before older entries: merge the other branch instead of squashing it, or append the entries with the time of recording"
	if in != nil && in.rigour.NoInsertions {
		f.Message += fmt.Sprintf("; lane %q forbids it", in.claim.Lane)
	}
}

// judgeLanes compares each change with the lane that it claims.
func (j *judgement) judgeLanes(ctx context.Context) error {
	for _, s := range j.lanes {
		if !s.claim.Made() && len(s.unknown) == 0 {
			continue
		}
		if err := j.examineLane(ctx, s); err != nil {
			return err
		}
		if s == j.lane {
			j.report.Lane = s.report
		}
		parent := ""
		if len(s.bases) > 0 {
			parent = s.bases[0]
		}
		for i := range rules {
			if rules[i].Lane == nil {
				continue
			}
			r := &reporter{rule: &rules[i], commit: s.head, parent: parent}
			rules[i].Lane(s, r)
			j.add(r.out)
		}
	}
	return nil
}

// counts reports whether a path is one of those that a lane is about.
func (j *judgement) counts(path string) bool {
	return lane.Counts(path) && !j.opts.Policy.JudgesRecord(path)
}

// isWork reports whether what differs counts and is no document.
func (j *judgement) isWork(c Change) bool {
	return j.counts(c.Path) && !lane.IsDocument(c.Path, &j.opts.Policy.Lanes)
}

// documentsAlone reports whether a change touches nothing that counts but documents.
func (j *judgement) documentsAlone(ctx context.Context, s *laneState) (bool, error) {
	touched, err := j.touchedFiles(ctx, s)
	return !slices.ContainsFunc(touched, j.isWork), err
}
