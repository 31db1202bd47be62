package entrypoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/lane"
)

// mergeOf looks for the system's merge of the head, and for the target as of that merge. What the system made and is no such merge is
// kept: of a merge train that squashes or fast-forwards, it is what the target would become.
func (j *job) mergeOf(ctx context.Context, s *session, head string) (base, merge, words string, err error) {
	j.made = nil
	for _, p := range j.plan.Merge {
		if !j.counts(p) {
			continue
		}
		id, err := s.repo.Resolve(ctx, p.Revision)
		if errors.Is(err, githistory.ErrLacking) {
			if err := j.notAsked(p, err); err != nil {
				return "", "", "", err
			}
			if len(p.Fetch) > 0 {
				j.notes = append(j.notes, fmt.Sprintf("%s, %s, is unavailable: what it would bring to the target was not judged", p.Words, p.Revision))
			}
			continue
		}
		if err != nil {
			return "", "", "", err
		}
		if id == head {
			continue
		}
		side, err := s.repo.Resolve(ctx, id+"^2")
		lacking := errors.Is(err, githistory.ErrLacking)
		switch {
		case lacking && j.mayDeepen(s, head):
			return "", "", "", missing(head, err)
		case err != nil && !lacking:
			return "", "", "", err
		case lacking || side != head: // it is no merge, or one of something else
			if p.Made {
				j.made = append(j.made, ci.Point{Revision: id, Words: p.Words})
			}
			continue
		}
		base, err := s.repo.Resolve(ctx, id+"^1")
		return base, id, "the first parent of " + p.Words, err
	}
	return "", "", "", nil
}

// madeAfter is the first commit that the system made and that descends from the base: it would be the target's next tip. Of others a
// note says that they were not judged.
func (j *job) madeAfter(ctx context.Context, s *session, base string) (string, error) {
	first := ""
	for _, p := range j.made {
		after, err := s.repo.IsAncestor(ctx, base, p.Revision)
		switch {
		case err != nil:
			return "", err
		case after && first == "":
			first = p.Revision
		case !after:
			j.notes = append(j.notes, fmt.Sprintf("%s, %s, is neither a merge of the head nor a descendant of the base: it was not judged", p.Words, p.Revision))
		}
	}
	return first, nil
}

// ignoredLanes are notes on claims of a lane that did not count: labels that another claim comes before, and the caller's own if no
// change is judged.
func (j *job) ignoredLanes(r *finding.Report) []string {
	if r.Failure != nil || j.plan.Kind == ci.Nothing {
		return nil
	}
	if r.Lane == nil {
		if r.Examined.Commits == 0 {
			return nil // the report says that nothing was judged
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
