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

// Collector has rules judge subjects and reports what they find: with the severities of the configuration and of
// families, waived findings apart, and each edit once.
type Collector struct {
	// Rules judge.
	Rules  []rule.Rule
	policy *policy.Policy
	now    time.Time
	Strict bool
	// rigour is what a family demands of a commit; nil if none does.
	rigour func(commit string) *rule.Rigour
	// WarnOnly makes every finding a warning, except a divergence that the configuration calls an error.
	WarnOnly bool
	// lasting leaves out everything else: see Options.Lasting. adopts lets all errors about logs in, as an audit reports them.
	lasting, adopts bool

	Report  finding.Report
	listing finding.Listing
	// Reported are the edits that findings are about.
	Reported finding.ReportedEdits
	// Earlier counts the findings if the same is judged again; else nil.
	Earlier *finding.EarlierFindings
	// used are the indexes of waivers that excused something.
	used      map[int]bool
	standings standings
}

func newCollector(opts Options) *Collector {
	if opts.Reported == nil {
		opts.Reported = finding.ReportedEdits{}
	}
	return &Collector{
		policy: opts.Policy, now: opts.Now, Strict: opts.strict(), lasting: opts.Lasting,
		Report: finding.Report{
			Mode: opts.Mode, Strict: opts.strict(), Observe: opts.Policy.Mode == policy.Observe,
			Examined: finding.Examined{Policy: opts.Policy.Source, Branch: opts.Branch},
		},
		listing:  finding.Listing{Find: opts.Find},
		Reported: opts.Reported, used: map[int]bool{}, standings: standings{find: opts.Standings},
	}
}

// Judge has every rule judge a subject.
func (c *Collector) Judge(ctx context.Context, s rule.Subject) error {
	place := s.Where()
	var in *rule.Rigour
	if c.rigour != nil {
		in = c.rigour(place.Commit)
	}
	found, err := c.findings(ctx, s, place, in)
	if err = cmp.Or(err, c.standings.err); err != nil {
		return err
	}
	for _, f := range found {
		c.add(f.by, f.Finding, place, in)
	}
	return nil
}

// found is a finding and the rule that found it.
type found struct {
	finding.Finding
	by *rule.Rule
}

// findings are what the rules find in a subject.
func (c *Collector) findings(ctx context.Context, s rule.Subject, place rule.Place, in *rule.Rigour) (out []found, err error) {
	for i := range c.Rules {
		one := &c.Rules[i]
		if one.StrictOnly && !c.Strict || c.lasting && !lasting(one.ID) && (!c.adopts || !aboutLogs(one.ID)) {
			continue
		}
		severity, raisedBy, on := c.severity(one, one.Severity, in)
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

// lasting reports whether a rule is about what became of a log's entries.
func lasting(id string) bool {
	return strings.HasPrefix(id, "append-only/") || id == "divergence/lost-entry" || id == "divergence/unreconciled"
}

// aboutLogs reports whether a rule is about logs, whatever it says of them.
func aboutLogs(id string) bool {
	return strings.HasPrefix(id, "log/") || strings.HasPrefix(id, "divergence/")
}

// severity applies the configuration, and a rigour that may be nil, to a severity. by is what raised it; on is false if the rule is off.
func (c *Collector) severity(of *rule.Rule, own finding.Severity, in *rule.Rigour) (s finding.Severity, by *rule.Rigour, on bool) {
	level := c.policy.Rules[of.ID]
	if in != nil {
		raised := in.Rules[of.ID]
		if in.NoInsertions && of.Edit.Has(ledger.InsertionExplained) {
			raised = policy.Error
		}
		if raised == policy.Error || raised == policy.Warning && level == policy.Off {
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

// Demand sets the rigour that a family demands of each commit, for findings from here on.
func (c *Collector) Demand(strict bool, of func(commit string) *rule.Rigour) {
	c.rigour = of
	c.Strict = c.Strict || strict
	c.Report.Strict = c.Strict
}

func (c *Collector) add(of *rule.Rule, f finding.Finding, place rule.Place, in *rule.Rigour) {
	f.Severity = cmp.Or(f.Severity, of.Severity)
	if !place.Mandatory {
		f.Severity, _, _ = c.severity(of, f.Severity, in)
	}
	if c.WarnOnly && f.Severity != finding.SeverityNote && (c.policy.Rules[of.ID] != policy.Error || !strings.HasPrefix(of.ID, "divergence/")) {
		f.Severity = finding.SeverityWarning
		if strings.Contains(f.Fix, "`") { // it is only advice, with nothing to type
			f.Fix = "nothing has to be done now; it is settled when the branch is merged there"
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
	waiver := c.waiver(of, f)
	if place.Allowed != "" {
		waiver = c.approval(place)
	}
	if waiver == nil && f.Waived || c.known(f, waiver) {
		return
	}
	if waiver != nil {
		c.remember(f, finding.SeverityWaived)
		f.Reason = waiver.Reason
		c.listing.Add(&c.Report, f, finding.SeverityWaived)
		return
	}
	c.remember(f, f.Severity)
	if !c.Earlier.Has(&f) {
		c.listing.Add(&c.Report, f, f.Severity)
	}
}

// known reports whether all of a finding's edits were reported before, at least as severely: a merge brings an
// edit along, and it is reported once, at the earliest commit. A waived edit is not known if the same two versions
// now show another edit that no waiver names.
func (c *Collector) known(f finding.Finding, waiver *policy.Waiver) bool {
	for _, key := range f.Edits {
		before, seen := c.Reported.Of(key)
		if !seen || before != finding.SeverityWaived && f.Severity.Exceeds(before) || before == finding.SeverityWaived && waiver == nil {
			return false
		}
	}
	return len(f.Edits) > 0
}

func (c *Collector) remember(f finding.Finding, s finding.Severity) {
	for _, key := range f.Edits {
		c.Reported.Note(key, s)
	}
}

// EditedEntries are a log's entries that findings are about and, if wanted, their new versions. Waived edits are
// left out: they count as equal anyway.
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
	delete(entries, small.Digest{}) // of edits with no entry on one side
	return entries
}

// finish makes the report, also of an error that stopped the run.
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

// SkipEarlier leaves out, from here on, findings that were reported before.
func (c *Collector) SkipEarlier() { c.Earlier.Remaining = maps.Clone(c.Earlier.Seen) }

// Used reports whether a waiver, by its index, has excused something.
func (c *Collector) Used(waiver int) bool { return c.used[waiver] }
