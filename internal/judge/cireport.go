package judge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/policy/lane"
)

// Fact is something that a job found out about what to judge, for people. Both parts may hold untrusted text.
type Fact struct{ Name, Value string }

func (j *job) fact(name, format string, args ...any) {
	j.facts = append(j.facts, Fact{name, fmt.Sprintf(format, args...)})
}

func (j *job) note(format string, args ...any) {
	j.notes = append(j.notes, fmt.Sprintf(format, args...))
}

// account completes the facts: where this runs, what it judges, and under whose policy.
func (j *job) account(r *finding.Report) []Fact {
	all := append([]Fact{{"where", j.plan.System.Name + ", " + j.plan.Event}, {"what", j.plan.Subject}, {"nothing to judge", j.plan.Reason}}, j.facts...)
	for _, spec := range j.fetched {
		all = append(all, Fact{"fetched", spec})
	}
	if r.Verdict != finding.Error || r.Examined.Commits > 0 { // else it stopped before that
		if j.plan.Kind != ci.Nothing {
			all = append(all, Fact{"configuration", r.Examined.Policy})
		}
		all = append(all, Fact{"floor", r.Examined.Floor})
		if r.Lane != nil {
			all = append(all, Fact{"lane", fmt.Sprintf("%s (from the %s); the change fits %s", r.Lane.Claim.Lane, r.Lane.Claim.Source, r.Lane.Fits)})
		}
		all = append(all, Fact{"judged", wording.Count(r.Examined.Commits, "commit")})
	}
	return slices.DeleteFunc(all, func(f Fact) bool { return f.Value == "" })
}

// ignoredLanes are notes on claims of a lane that did not count: labels overridden by another claim, and the caller's own claim if no
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

// explain adds to a failure why a fetch failed, and which line of the job's description would fetch it.
func (j *job) explain(f *failure.Error) *failure.Error {
	out := *f
	out.Err = f
	switch system := j.plan.System; {
	case errors.Is(f, githistory.ErrNotRepository):
		if system.NoCheckout != "" {
			out.Message, out.Remedy = out.Message+": "+system.NoCheckout, system.Checkout
		}
		return &out
	case !errors.Is(f, history.ErrLacking):
		return f
	}
	var reasons []string
	for _, err := range j.asked {
		if err != nil {
			reasons = append(reasons, failure.Of(err).Message)
		}
	}
	if len(reasons) > 0 && !strings.Contains(out.Message, slices.Min(reasons)) {
		out.Message += "; and " + slices.Min(reasons)
	}
	if j.shallow && !j.keepRemedy {
		out.Message, out.Remedy = "the checkout is shallow: "+out.Message, j.plan.System.Deep
	}
	return &out
}
