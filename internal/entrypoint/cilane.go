package entrypoint

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/lane"
)

// unheeded are notes about claims of a lane that did not count, so that nobody
// waits for what they ask: labels that another claim comes before, and what the
// caller claims where no change is judged.
func (j *job) unheeded(r *gate.Report) []string {
	if r.Failure != nil || j.plan.Kind == ci.Nothing {
		return nil
	}
	if r.Lane == nil {
		if r.Examined.Commits == 0 {
			return nil // it says that nothing was judged
		}
		if given, err := j.req.claimedLane(); err == nil && given != "" {
			return []string{fmt.Sprintf("the lane %s, claimed by %s, did not count: what is judged here is a history and no change", given, claimant(j.req.LaneFrom))}
		}
		return nil
	}
	claim := r.Lane.Claim
	if claim.Source == lane.FromLabel {
		return nil
	}
	var lost []string
	for _, label := range j.plan.Labels {
		name, _ := strings.CutPrefix(label, lane.LabelPrefix)
		if l, ok := lane.Parse(name); ok && l != claim.Lane {
			lost = append(lost, lane.LabelPrefix+string(l))
		}
	}
	if len(lost) == 0 {
		return nil
	}
	word := "the label " + lost[0]
	if len(lost) > 1 {
		word = "the labels " + strings.Join(lost, " and ")
	}
	switch claim.Source {
	case lane.FromJob:
		return []string{fmt.Sprintf("%s did not count: a job's record asks for more, the lane %s", word, claim.Lane)}
	case lane.FromPolicy: // its default comes behind labels
		return []string{fmt.Sprintf("%s did not count: lanes.minimum asks for more, the lane %s", word, claim.Lane)}
	}
	return []string{fmt.Sprintf("%s did not count: %s claims the lane %s, and comes before labels", word, claimant(claim.Source), claim.Lane)}
}

// claimant says who makes a claim, for a note.
func claimant(source lane.Source) string {
	switch source {
	case lane.FromInput:
		return "the input lane"
	case lane.FromEnvironment:
		return "the variable " + laneVariable
	case lane.FromTrailer:
		return "a commit's trailer"
	case lane.FromEntry:
		return "an entry for " + lane.SwitchTask
	}
	return "--lane"
}
