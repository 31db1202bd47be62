package entrypoint

import (
	"cmp"
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
			return []string{fmt.Sprintf("the lane %s, claimed by %s, did not count: a whole history is judged here, not a change", given, lane.Claim{Source: cmp.Or(j.req.LaneFrom, lane.FromCaller)}.By())}
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
	return []string{fmt.Sprintf("%s did not count: the lane is %s, claimed by %s", word, claim.Lane, claim.By())}
}
