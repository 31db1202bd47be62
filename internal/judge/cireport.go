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

// Fact is a line for people about what a job judges. Name and Value may hold untrusted text.
type Fact struct{ Name, Value string }

func (j *job) fact(name, format string, args ...any) {
	j.facts = append(j.facts, Fact{name, fmt.Sprintf(format, args...)})
}

func (j *job) note(format string, args ...any) {
	j.notes = append(j.notes, fmt.Sprintf(format, args...))
}

// completeFacts returns the job's facts, preceded by what the plan says and followed by what was fetched and what the report says. Facts without a
// value are left out.
func (j *job) completeFacts(r *finding.Report) []Fact {
	facts := append([]Fact{{"where", j.plan.System.Name + ", " + j.plan.Event}, {"what", j.plan.Subject}, {"nothing to judge", j.plan.Reason}}, j.facts...)
	for _, command := range j.fetchCommands {
		facts = append(facts, Fact{"fetched", command})
	}
	if r.Verdict != finding.Error || r.Examined.Commits > 0 { // otherwise nothing, or only files, could be judged before the error
		if j.plan.Kind != ci.Nothing {
			facts = append(facts, Fact{"configuration", r.Examined.Policy})
		}
		facts = append(facts, Fact{"floor", r.Examined.Floor})
		if r.Lane != nil {
			facts = append(facts, Fact{"lane", fmt.Sprintf("%s (from the %s); the change fits %s", r.Lane.Claim.Lane, r.Lane.Claim.Source, r.Lane.Fits)})
		}
		facts = append(facts, Fact{"judged", wording.Count(r.Examined.Commits, "commit")})
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Value == "" })
}

// ignoredLaneNotes returns notes about claims of a lane that did not count: the labels that another claim overrides, or the caller's claim if a whole
// history was judged.
func (j *job) ignoredLaneNotes(r *finding.Report) []string {
	switch {
	case r.Failure != nil, j.plan.Kind == ci.Nothing, r.Lane == nil && r.Examined.Commits == 0:
		return nil
	case r.Lane == nil:
		claimed, err := j.req.ClaimedLane()
		if err != nil || claimed == "" {
			return nil
		}
		by := lane.Claim{Source: cmp.Or(j.req.LaneFrom, lane.FromCaller)}.By()
		return []string{fmt.Sprintf("the lane %s, claimed by %s, did not count: a whole history is judged here, not a change", claimed, by)}
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

// explainFailure completes a failure about a missing commit or a missing repository. To the message it adds why a fetch failed. In a shallow clone or
// without a repository, a new remedy says what to change in the CI system's configuration file, such as the depth of the checkout.
func (j *job) explainFailure(f *failure.Error) *failure.Error {
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
	for _, err := range j.fetchErrors {
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
