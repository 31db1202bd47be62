package process

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/wording"
)

// ConfigChanged is config/changed: this change edits the gate's own configuration.
var ConfigChanged = rule.New("config/changed", finding.SeverityWarning, finding.StagePolicy, rule.On(func(v *subject.Policy, r *rule.Reporter) {
	if v.Changed.Path == "" {
		return
	}
	f := finding.Finding{
		Path:    policy.File,
		Message: "this change edits the gate's configuration; it was judged under the current configuration: " + v.Policy.Source,
		Fix:     "have a person review the change; it takes effect with the next commit, and elsewhere once it is merged",
	}
	if _, lane := r.Severity(); lane != "" {
		f.Fix = "make the edit of " + policy.File + " a change of its own, in a lane less strict than " + string(lane)
	}
	r.Add(f)
}))

// WaiverUnused is config/waiver-unused: a waiver excuses nothing in the history.
var WaiverUnused = rule.New("config/waiver-unused", finding.SeverityWarning, finding.StagePolicy, rule.On(func(v *subject.Policy, r *rule.Reporter) {
	for _, w := range v.Unused {
		r.Add(waiverFinding(w, "excuses nothing in this history", "remove the stanza"))
	}
}))

// WaiverExpired is config/waiver-expired: a waiver's last day has passed.
var WaiverExpired = rule.New("config/waiver-expired", finding.SeverityWarning, finding.StagePolicy, rule.On(func(v *subject.Policy, r *rule.Reporter) {
	for _, w := range v.Expired {
		r.Add(waiverFinding(w, "was valid until "+w.Until.Format("2006-01-02")+" (UTC)", "remove the stanza, or have a person set a later day"))
	}
}))

func waiverFinding(w policy.Waiver, what, fix string) finding.Finding {
	from, to := ledger.DigestText(w.From), ledger.DigestText(w.To)
	return finding.Finding{
		Path: policy.File, Line: w.Pos.Line, Column: w.Pos.Column,
		Subject: strings.Join([]string{w.Rule, w.Path, from, to}, " "),
		Message: fmt.Sprintf("the waiver of %s for %s %s", w.Rule, w.Path, what),
		Fix:     fix,
	}
}

// BaselineMismatch is config/baseline-mismatch: a log does not begin with its baseline, which is therefore ignored.
var BaselineMismatch = rule.New("config/baseline-mismatch", finding.SeverityWarning, finding.StagePolicy, rule.On(func(v *subject.Policy, r *rule.Reporter) {
	for _, b := range v.Mismatched {
		r.Add(finding.Finding{
			Path: policy.File, Line: b.Pos.Line, Column: b.Pos.Column, Subject: b.Path,
			Message: fmt.Sprintf("%s does not begin with the baseline of %s; the baseline is ignored and all of the log is judged", b.Path, wording.Count(b.Entries, "entry")),
			Fix:     "see which commit rewrote the log, and how to take that back: `small-hook audit`; if the baseline is wrong, a person accepts the log as it stands, with small-hook baseline",
		})
	}
}))
