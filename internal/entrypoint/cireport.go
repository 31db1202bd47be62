package entrypoint

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/wording"
)

// Fact is one thing that a job finds out about what to judge, for people. Both parts may hold untrusted text.
type Fact struct{ Name, Value string }

func (j *job) fact(name, format string, args ...any) {
	j.facts = append(j.facts, Fact{name, fmt.Sprintf(format, args...)})
}

// account completes the facts: where this runs, what about, by whose policy.
func (j *job) account(r *finding.Report) []Fact {
	all := []Fact{{"where", j.plan.System.Name + ", " + j.plan.Event}}
	if j.plan.Subject != "" {
		all = append(all, Fact{"what", j.plan.Subject})
	}
	if j.plan.Reason != "" {
		all = append(all, Fact{"nothing to judge", j.plan.Reason})
	}
	all = append(all, j.facts...)
	for _, spec := range j.fetched {
		all = append(all, Fact{"fetched", spec})
	}
	if r.Verdict == finding.Error && r.Examined.Commits == 0 {
		return all // it did not get that far
	}
	if j.plan.Kind != ci.Nothing && r.Examined.Policy != "" {
		all = append(all, Fact{"policy", r.Examined.Policy})
	}
	if r.Lane != nil {
		all = append(all, Fact{"lane", fmt.Sprintf("%s (from the %s); the change fits %s", r.Lane.Claim.Lane, r.Lane.Claim.Source, r.Lane.Fits)})
	}
	return append(all, Fact{"judged", wording.Count(r.Examined.Commits, "commit")})
}

// ignoredLanes are notes on claims of a lane that did not count: labels that another claim comes before, and the caller's own if no
// change is judged.
func (j *job) ignoredLanes(r *finding.Report) []string {
	switch {
	case r.Failure != nil, j.plan.Kind == ci.Nothing, r.Lane == nil && r.Examined.Commits == 0: // nothing was judged
		return nil
	case r.Lane == nil:
		given, err := j.req.ClaimedLane()
		if err != nil || given == "" {
			return nil
		}
		by := lane.Claim{Source: cmp.Or(j.req.LaneFrom, lane.FromCaller)}.By()
		return []string{fmt.Sprintf("the lane %s, claimed by %s, did not count: a whole history is judged here, not a change", given, by)}
	}
	claim := r.Lane.Claim
	var ignored []string
	for _, label := range j.plan.Labels {
		l, ok := lane.Parse(strings.TrimPrefix(label, lane.LabelPrefix))
		if ok && l != claim.Lane && claim.Source != lane.FromLabel {
			ignored = append(ignored, lane.LabelPrefix+string(l))
		}
	}
	if len(ignored) == 0 {
		return nil
	}
	labels := "label"
	if len(ignored) > 1 {
		labels = "labels"
	}
	return []string{fmt.Sprintf("the %s %s did not count: the lane is %s, claimed by %s", labels, strings.Join(ignored, " and "), claim.Lane, claim.By())}
}

// explain adds to a failure why something could not be fetched, and which line of the job's description provides it.
func (j *job) explain(f *failure.Error) *failure.Error {
	out := *f
	out.Err = f
	switch system := j.plan.System; {
	case errors.Is(f, githistory.ErrNotRepository):
		if system.NoCheckout != "" {
			out.Message, out.Remedy = out.Message+": "+system.NoCheckout, system.Checkout
		}
		return &out
	case !errors.Is(f, githistory.ErrLacking):
		return f
	}
	why := ""
	for _, err := range j.asked {
		if err == nil {
			continue
		}
		if text := failure.Of(err).Message; why == "" || text < why {
			why = text
		}
	}
	if why != "" && !strings.Contains(out.Message, why) {
		out.Message += "; and " + why
	}
	if j.shallow && !j.keepRemedy {
		out.Message, out.Remedy = "the checkout is shallow: "+out.Message, j.plan.System.Deep
	}
	return &out
}
