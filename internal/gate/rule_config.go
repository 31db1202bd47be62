package gate

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
)

// PolicyState is what rules about the configuration read.
type PolicyState struct {
	Place
	policy *policy.Policy
	// changed is the file whose change is judged, the zero Change if the
	// policy does not change.
	changed Change
	// mismatched are baselines that the tip does not begin with.
	mismatched []*policy.Baseline
	// expired and unused are waivers that no longer hold, and that excused
	// nothing in a whole history.
	expired, unused []policy.Waiver
	// unions are files that git would merge by joining lines.
	unions []union
}

var ruleConfigChanged = Rule{
	ID: "config/changed", Severity: SeverityWarning, Stage: StagePolicy,
	Checks: []RuleCheck{On(func(v *PolicyState, r *Reporter) {
		if v.changed.Path == "" {
			return
		}
		f := Finding{
			Path:    policy.File,
			Message: "this change edits the gate's configuration; it was judged under the current configuration (" + v.policy.Source + ")",
			Fix:     "have a person look at the change; it takes effect once it is merged",
		}
		if _, lane := r.Severity(); lane != "" {
			f.Fix = "send the edit of " + policy.File + " as a change by itself, in a lane with less rigour than " + string(lane)
		}
		r.Add(f)
	})},
}

var ruleWaiverUnused = Rule{
	ID: "config/waiver-unused", Severity: SeverityWarning, Stage: StagePolicy,
	Checks: []RuleCheck{On(func(v *PolicyState, r *Reporter) {
		for _, w := range v.unused {
			r.Add(waiverFinding(w, "excuses nothing in this history", "remove the stanza"))
		}
	})},
}

var ruleWaiverExpired = Rule{
	ID: "config/waiver-expired", Severity: SeverityWarning, Stage: StagePolicy,
	Checks: []RuleCheck{On(func(v *PolicyState, r *Reporter) {
		for _, w := range v.expired {
			r.Add(waiverFinding(w, "held until "+w.Until.Format("2006-01-02")+" (UTC)", "remove the stanza, or have a person set a later day"))
		}
	})},
}

func waiverFinding(w policy.Waiver, what, fix string) Finding {
	from, to := digestText(w.From), digestText(w.To)
	return Finding{
		Path: policy.File, Line: w.Pos.Line, Column: w.Pos.Column,
		subject: strings.Join([]string{w.Rule, w.Path, from, to}, " "),
		Message: fmt.Sprintf("the waiver of %s for %s %s", w.Rule, w.Path, what),
		Fix:     fix,
	}
}

var ruleBaselineMismatch = Rule{
	ID: "config/baseline-mismatch", Severity: SeverityWarning, Stage: StagePolicy,
	Checks: []RuleCheck{On(func(v *PolicyState, r *Reporter) {
		for _, b := range v.mismatched {
			r.Add(Finding{
				Path: policy.File, Line: b.Pos.Line, Column: b.Pos.Column, subject: b.Path,
				Message: fmt.Sprintf("%s does not begin with the baseline of %s; the baseline is ignored and all of the log is judged", b.Path, count(b.Entries, "entry")),
				Fix:     "if the log was rewritten, bring it back; if the baseline is wrong, have a person run small-hook baseline again",
			})
		}
	})},
}
