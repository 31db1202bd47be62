package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
)

// LaneReport is what is known of a change's lane.
type LaneReport struct {
	// Claim is who claims which lane; the zero Claim for nobody.
	Claim lane.Claim
	// Signals are what the change shows, and Fits is the lane with the least rigour
	// that allows them all.
	Signals []lane.Signal
	Fits    lane.Lane
}

// laneChange is a change as far as its lane goes: what head has and the bases
// lack. The bases are where the change began; none for one that began with
// nothing.
type laneChange struct {
	bases []string
	head  string
	// ends is true if the change is complete, so that what it has to bring must
	// be there: not for the index, and not for a branch that work goes on in.
	ends bool
}

// laneState is what is known of the lane of what is judged.
type laneState struct {
	laneChange
	claim    lane.Claim
	rigour   policy.Rigour
	switches []laneSwitch
	unknown  []unknownLane
	// commits are those of the change, parents before children; none for the
	// index.
	commits []Commit
	// jobs are what the records of jobs say that the change touches.
	jobs laneJobs
}

// laneSwitch is a commit that claims another lane than what it follows.
type laneSwitch struct {
	commit, parent string
	from, to       lane.Lane
	// squashed is true where the commit itself claims one lane after the other,
	// as it does where several commits were made one.
	squashed bool
}

// unknownLane is a claim that names no lane, or is none.
type unknownLane struct {
	// name is what stands there; commit is the one whose trailer it is, empty for
	// a label.
	name, commit string
	// stray is true for a lane that exists, in a line that is no trailer.
	stray bool
}

// claimLaneOf finds the lane that a range claims. What it shows is compared
// with where it began, so that what the base has got since is not held against
// it.
func (j *judgement) claimLaneOf(ctx context.Context, base, head string, commits []Commit) error {
	if !j.mayClaim(commits) {
		return nil
	}
	return j.claimSince(ctx, base, laneChange{head: head, ends: true}, commits)
}

// claimSince finds the lane of what a change has got since it parted from base.
func (j *judgement) claimSince(ctx context.Context, base string, change laneChange, commits []Commit) error {
	var err error
	if change.bases, err = j.history.MergeBases(ctx, base, change.head); err != nil {
		return err
	}
	jobs, err := j.laneJobs(ctx, change)
	if err == nil {
		j.claimLane(change, commits, jobs)
	}
	return err
}

// claimPushed finds the lane of what a push brings: since the default branch,
// for another branch, where one of the commits that are new to the other side
// claims it. To the default branch it brings all that this one lacks, also what
// the other side has in another branch.
func (j *judgement) claimPushed(ctx context.Context, u Update, commits []Commit) error {
	base, ends := u.Old, u.Target.ID == ""
	mayClaim := j.mayClaim(commits)
	switch {
	case !mayClaim && (!ends || u.Old == "" || bringsAll(commits, u)):
		return nil
	case u.Target.ID != "":
		base = u.Target.ID
	case base == "" && len(u.Known) == 1:
		base = u.Known[0]
	case base == "":
		return nil // it brings a whole history, which is no change in a lane
	}
	whole, err := j.history.Commits(ctx, []string{u.New}, []string{base})
	if err != nil || !mayClaim && !j.mayClaim(whole) {
		return err
	}
	steps := []landing{{base: base, head: u.New, commits: whole}}
	if ends && base == u.Old && j.opts.Lane == "" {
		steps = landings(whole, base, u.New)
	}
	for _, step := range steps {
		if err := j.claimSince(ctx, step.base, laneChange{head: step.head, ends: ends}, step.commits); err != nil {
			return err
		}
	}
	return nil
}

// bringsAll reports whether the commits that are new to the other side are surely all
// that a ref gets: none of them follows another commit than the ref's old one.
func bringsAll(commits []Commit, u Update) bool {
	own := map[string]bool{u.Old: true}
	for _, c := range commits {
		own[c.ID] = true
	}
	return own[u.New] && !slices.ContainsFunc(commits, func(c Commit) bool {
		return slices.ContainsFunc(c.Parents, func(p string) bool { return !own[p] })
	})
}

// claimPending finds the lane of what is about to be committed. There is no
// message yet whose trailer could say it.
func (j *judgement) claimPending(ctx context.Context, parents []string) error {
	if !j.mayClaim(nil) {
		return nil
	}
	change := laneChange{bases: parents, head: Index}
	jobs, err := j.laneJobs(ctx, change)
	if err == nil {
		j.claimLane(change, nil, jobs)
	}
	return err
}

// mayClaim reports whether anybody may claim a lane.
func (j *judgement) mayClaim(commits []Commit) bool {
	return j.opts.Lane != "" || len(j.opts.Labels) > 0 || j.opts.Policy.Lane != "" || len(j.opts.Policy.Workflows.Jobs) > 0 ||
		slices.ContainsFunc(commits, func(c Commit) bool { return len(c.Lanes) > 0 })
}

// claimLane finds the claim that counts, and has what is judged from here on
// judged with the rigour of its lane.
func (j *judgement) claimLane(change laneChange, commits []Commit, jobs laneJobs) {
	trail := followLanes(commits)
	labelled, unknown := labelClaim(j.opts.Labels)
	caller, _ := lane.Parse(j.opts.Lane)
	configured, _ := lane.Parse(j.opts.Policy.Lane)
	s := &laneState{
		laneChange: change, commits: commits, switches: trail.switches, jobs: jobs,
		claim: lane.First(
			lane.Claim{Lane: caller, Source: j.opts.caller()},
			atLeast(trail.at[change.head], jobs.claim),
			atLeast(labelled, jobs.claim),
			jobs.claim,
			lane.Claim{Lane: configured, Source: lane.FromPolicy},
		),
	}
	s.unknown = slices.Concat(trail.uncorrected(change.head, s.claim), unknown)
	s.rigour = j.opts.Policy.Lanes.Rigour(string(s.claim.Lane))
	j.lanes = append(j.lanes, s)
	if !s.claim.Made() && len(s.unknown) == 0 {
		return
	}
	if j.lane == nil || j.lane.claim.Lane.Less(s.claim.Lane) {
		j.lane = s
	}
	j.opts.Strict = j.opts.Strict || s.rigour.Strict
	j.report.Strict = j.opts.strict()
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

// laneTrail is what the trailers of a change's commits say, one after the other.
type laneTrail struct {
	// at is the claim that holds in each commit, order the commit's place.
	at       map[string]lane.Claim
	order    map[string]int
	switches []laneSwitch
	unknown  []unknownLane
}

// followLanes follows the claims of commits, which are given parents first. A
// commit without a claim goes on in the strictest lane of its parents; one that
// claims another than that switches. Of several claims of one
// commit, as in a squash, the strictest counts.
func followLanes(commits []Commit) laneTrail {
	t := laneTrail{at: map[string]lane.Claim{}, order: map[string]int{}}
	if !slices.ContainsFunc(commits, func(c Commit) bool { return len(c.Lanes) > 0 }) {
		return t
	}
	for i, c := range commits {
		t.order[c.ID] = i
		var before lane.Claim
		own := lane.Claim{Source: lane.FromTrailer, Commit: c.ID}
		last := lane.Lane("")
		for _, word := range c.Lanes {
			l, ok := lane.Parse(word.Name)
			if !ok || word.Stray {
				t.unknown = append(t.unknown, unknownLane{name: word.Name, commit: c.ID, stray: word.Stray})
				continue
			}
			own.Lane = lane.Stricter(own.Lane, l)
			if last != "" && last != l {
				t.switches = append(t.switches, laneSwitch{commit: c.ID, from: last, to: l, squashed: true})
			}
			last = l
		}
		for _, p := range c.Parents {
			parent := t.at[p]
			if before.Lane.Less(parent.Lane) {
				before = parent
			}
		}
		switch {
		case !own.Made():
			own = before
		case before.Made() && before.Lane != own.Lane:
			t.switches = append(t.switches, laneSwitch{commit: c.ID, parent: before.Commit, from: before.Lane, to: own.Lane})
		}
		if own.Made() {
			t.at[c.ID] = own
		}
	}
	return t
}

// uncorrected are the claims that name no lane, but for those after which the
// change goes on to name one; and the stray ones that ask for more than what
// counts in the end.
func (t laneTrail) uncorrected(head string, counts lane.Claim) []unknownLane {
	claim := t.at[head]
	return slices.DeleteFunc(t.unknown, func(u unknownLane) bool {
		return claim.Made() && t.order[u.commit] < t.order[claim.Commit] ||
			u.stray && !counts.Lane.Less(lane.Lane(u.name))
	})
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
	if in == nil || !in.rigour.NoInsertions && !in.rigour.WarningsAreErrors {
		return
	}
	if in.rigour.NoInsertions {
		f.Message += fmt.Sprintf("; the lane %s forbids it", in.claim.Lane)
	} else {
		f.Message += fmt.Sprintf("; in the lane %s warnings are errors", in.claim.Lane)
	}
	f.Fix += fmt.Sprintf("; or claim a lane that allows it, and append an entry for %s that says why", lane.SwitchTask)
}

// judgeLanes compares each change with the lane that it claims.
func (j *judgement) judgeLanes(ctx context.Context) error {
	for _, s := range j.lanes {
		if !s.claim.Made() && len(s.unknown) == 0 {
			continue
		}
		if err := j.judgeLane(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (j *judgement) judgeLane(ctx context.Context, s *laneState) error {
	v := &laneView{state: s}
	if s.claim.Made() {
		var err error
		if v.report, err = j.classify(ctx, s.laneChange); err != nil {
			return err
		}
		v.report.Claim = s.claim
		if s == j.lane {
			j.report.Lane = v.report
		}
		if v.entries, err = j.laneEntries(ctx, s); err != nil {
			return err
		}
		if len(v.entries) == 0 && v.mayAsk() {
			if v.firstLog, err = j.firstLog(ctx, s.head); err != nil {
				return err
			}
		}
		if v.brought, err = j.bringers(ctx, v); err != nil {
			return err
		}
		if v.untried, err = j.untried(ctx, v); err != nil {
			return err
		}
	}
	r := &reporter{commit: s.head}
	if len(s.bases) > 0 {
		r.parent = s.bases[0]
	}
	for i := range rules {
		if rules[i].Lane != nil {
			r.rule = &rules[i]
			rules[i].Lane(v, r)
		}
	}
	j.add(r.out)
	return nil
}
