package run

import (
	"cmp"
	"context"
	"maps"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Collector has rules judge subjects, and makes the report of what they find. It sets severities by the configuration and by what families demand,
// separates waived findings, and reports each edit once.
type Collector struct {
	Rules  []rule.Rule
	policy *policy.Policy
	now    time.Time
	Strict bool
	// demandsOf returns what a family demands of a commit; nil if no family demands anything.
	demandsOf func(commit string) *rule.Rigour
	// WarnOnly makes every finding a warning, except a divergence that the configuration calls an error.
	WarnOnly bool
	// If lasting is true, only errors about lost or rewritten entries are reported; see Options.OnlyLastingErrors. If adopts is true as well, other errors
	// about logs are reported, too, as in an audit.
	lasting, adopts bool

	Report  finding.Report
	listing finding.Listing
	// Reported holds the edits that findings have reported, in this judgement or an earlier one.
	Reported finding.ReportedEdits
	// Earlier counts the findings if commits may be judged a second time; otherwise it is nil.
	Earlier *finding.EarlierFindings
	// waiversByFrom holds the indexes of the waivers by their From; nil until waiversFrom needs them.
	waiversByFrom map[string][]int
	// usedWaivers holds the indexes of the waivers that allowed an edit.
	usedWaivers map[int]bool
	standings   standings
}

func newCollector(opts Options) *Collector {
	if opts.Reported == nil {
		opts.Reported = finding.ReportedEdits{}
	}
	return &Collector{
		policy: opts.Policy, now: opts.Now, Strict: opts.strict(), lasting: opts.OnlyLastingErrors,
		Report: finding.Report{
			Mode: opts.Mode, Strict: opts.strict(), Observe: opts.Policy.Mode == policy.Observe,
			Examined: finding.Examined{Policy: opts.Policy.Source, Branch: opts.Branch},
		},
		listing:  finding.Listing{Find: opts.Find},
		Reported: opts.Reported, usedWaivers: map[int]bool{}, standings: standings{find: opts.Standings},
	}
}

// Judge has every rule judge a subject, and reports what they find.
func (c *Collector) Judge(ctx context.Context, s rule.Subject) error {
	place := s.Where()
	var in *rule.Rigour
	if c.demandsOf != nil {
		in = c.demandsOf(place.Commit)
	}
	found, err := c.runRules(ctx, s, place, in)
	if err = cmp.Or(err, c.standings.err); err != nil {
		return err
	}
	for _, f := range found {
		c.addFinding(f.by, f.Finding, place, in)
	}
	return nil
}

type found struct {
	finding.Finding
	by *rule.Rule
}

// runRules has every rule that is on judge a subject, and returns what they find.
func (c *Collector) runRules(ctx context.Context, s rule.Subject, place rule.Place, in *rule.Rigour) (out []found, err error) {
	for i := range c.Rules {
		one := &c.Rules[i]
		if one.StrictOnly && !c.Strict || c.lasting && !judgesLostEntries(one.ID) && (!c.adopts || !isAboutLogs(one.ID)) {
			continue
		}
		severity, raisedBy, on := c.severityOf(one, one.Severity, in)
		if !on && !place.Mandatory {
			continue
		}
		r := &rule.Reporter{Place: place, Rule: one, Severity: severity, RaisedBy: raisedBy, To: func(f finding.Finding) { out = append(out, found{f, one}) }}
		for _, check := range one.Checks {
			if err := check(ctx, s, r); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// judgesLostEntries reports whether a rule finds entries of a log that were lost, changed or misplaced.
func judgesLostEntries(id string) bool {
	return strings.HasPrefix(id, "append-only/") || id == "divergence/lost-entry" || id == "divergence/unreconciled"
}

// isAboutLogs reports whether a rule judges something else about logs: whether they can be read, or have diverged.
func isAboutLogs(id string) bool {
	return strings.HasPrefix(id, "log/") || strings.HasPrefix(id, "divergence/")
}

// severityOf returns the severity that a finding of a rule gets: its own, unless the configuration or a family's demands, in, change it. in may be
// nil. by is what raised the severity, nil if nothing did; on is false if the rule is off.
func (c *Collector) severityOf(of *rule.Rule, own finding.Severity, in *rule.Rigour) (s finding.Severity, by *rule.Rigour, on bool) {
	level := c.policy.Rules[of.ID]
	if in != nil {
		raised := in.Rules[of.ID]
		if in.NoInsertions && of.Edit.Has(ledger.InsertionExplained) {
			raised = policy.Error
		}
		if raised == policy.Error || raised == policy.Warning && (level == policy.Off || level == "" && own == finding.SeverityNote) {
			level = raised
			by = in
		}
	}
	switch level {
	case policy.Off:
		return own, nil, false
	case policy.Error:
		own = finding.SeverityError
	case policy.Warning:
		own = finding.SeverityWarning
	}
	if in != nil && in.WarningsAreErrors && own == finding.SeverityWarning {
		own, by = finding.SeverityError, in
	}
	return own, by, true
}

// SetDemands sets what a family demands of each commit. It applies to later findings.
func (c *Collector) SetDemands(strict bool, of func(commit string) *rule.Rigour) {
	c.demandsOf = of
	c.Strict = c.Strict || strict
	c.Report.Strict = c.Strict
}

// SettledByMerge is the fix of a finding that is only a warning because the branch has not been merged yet.
const SettledByMerge = "nothing has to be done now; it is settled when the branch is merged"

// addFinding sets the severity and the fix of a finding, and puts it into the report unless it was reported already.
func (c *Collector) addFinding(of *rule.Rule, f finding.Finding, place rule.Place, in *rule.Rigour) {
	f.Severity = cmp.Or(f.Severity, of.Severity)
	if !place.Mandatory {
		f.Severity, _, _ = c.severityOf(of, f.Severity, in)
	}
	if c.WarnOnly && f.Severity != finding.SeverityNote && (c.policy.Rules[of.ID] != policy.Error || !strings.HasPrefix(of.ID, "divergence/")) {
		f.Severity = finding.SeverityWarning
		if strings.Contains(f.Fix, "`") && !f.FixBeforeMerge { // the finding is only advice now: there is nothing to type
			f.Fix = SettledByMerge
		}
	}
	id := ""
	if f.EditFrom != "" || f.EditTo != "" {
		id = f.Fingerprint()[:finding.ShownFingerprint]
	}
	f.Fix = remedy.ForFinding(f.Fix, id)
	f.FixLast = remedy.AcceptsPast(f.Fix)
	if c.lasting && f.Severity != finding.SeverityError {
		return
	}
	waiver := c.findWaiver(of, f)
	if place.Allowed != "" {
		waiver = c.findApproval(place)
	}
	if waiver == nil && f.Waived || c.wasReported(f, waiver) {
		return
	}
	if waiver != nil {
		c.noteReported(f, finding.SeverityWaived)
		f.Reason = waiver.Reason
		c.listing.Add(&c.Report, f, finding.SeverityWaived)
		return
	}
	c.noteReported(f, f.Severity)
	if !c.Earlier.Has(&f) {
		c.listing.Add(&c.Report, f, f.Severity)
	}
}

// wasReported reports whether all edits of a finding were already reported, at least as severely. A merge repeats the edits of its parents, but
// an edit is reported only once, at the earliest commit. An edit that was waived counts as unreported if the finding is not waived: the same two
// versions then show another edit, too, that no waiver names.
func (c *Collector) wasReported(f finding.Finding, waiver *policy.Waiver) bool {
	for _, key := range f.Edits {
		before, seen := c.Reported.Of(key)
		if !seen || before != finding.SeverityWaived && f.Severity.Exceeds(before) || before == finding.SeverityWaived && waiver == nil {
			return false
		}
	}
	return len(f.Edits) > 0
}

// noteReported notes that the edits of a finding were reported, and how severely.
func (c *Collector) noteReported(f finding.Finding, s finding.Severity) {
	for _, key := range f.Edits {
		c.Reported.Note(key, s)
	}
}

// EditedEntries returns the entries of a log whose edits were reported and, if withNew is true, their new versions. It leaves out waived edits,
// whose versions count as equal anyway.
func (c *Collector) EditedEntries(path string, withNew bool) map[small.Digest]bool {
	entries := map[small.Digest]bool{}
	for key, i := range c.Reported {
		if key.Path != path || finding.Severities[i] == finding.SeverityWaived {
			continue
		}
		entries[key.From] = true
		if withNew {
			entries[key.To] = true
		}
	}
	delete(entries, small.Digest{}) // it stands for "no entry" in an edit that adds or drops one
	return entries
}

// finish completes the report. err is the error that stopped the judgement, if one did.
func (c *Collector) finish(err error, failOnWarning bool) *finding.Report {
	r := &c.Report
	r.Findings, r.Waived = finding.SortFindings(r.Findings), finding.SortFindings(r.Waived)
	err = cmp.Or(err, c.standings.err, c.listing.Err)
	switch {
	case err != nil:
		r.Verdict, r.Failure = finding.Error, failure.Of(err)
	case r.Count().Errors > 0, failOnWarning && r.Count().Warnings > 0:
		r.Verdict = finding.Fail
	default:
		r.Verdict = finding.Pass
	}
	return r
}

// SkipEarlier has the collector leave out from now on the findings that it has already reported.
func (c *Collector) SkipEarlier() { c.Earlier.Remaining = maps.Clone(c.Earlier.Seen) }

// WaiverUsed reports whether the waiver with an index has allowed an edit.
func (c *Collector) WaiverUsed(waiver int) bool { return c.usedWaivers[waiver] }
