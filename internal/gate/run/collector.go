package run

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/rules"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Collector has rules judge subjects and reports what they find: with the severities of the configuration and the
// lane, waived findings apart, and each edit once.
type Collector struct {
	policy *policy.Policy
	now    time.Time
	Strict bool
	// lanes are what the lanes of the judged changes require.
	lanes []LaneRigour
	// WarnOnly makes every finding a warning.
	WarnOnly bool
	// lasting leaves out everything else: see Options.Lasting.
	lasting bool

	Report  finding.Report
	listing finding.Listing
	// Reported are the edits that findings are about.
	Reported finding.ReportedEdits
	// Earlier counts the findings if the same is judged again; else nil.
	Earlier *finding.EarlierFindings
	// used are the indexes of waivers that excused something.
	used map[int]bool
	// err is the first failure to find out what a remedy depends on.
	err error
}

// LaneRigour is what a lane requires of the commits of a change.
type LaneRigour struct {
	Lane    lane.Lane
	Rigour  policy.Rigour
	Commits []history.Commit
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
		Reported: opts.Reported, used: map[int]bool{},
	}
}

// Judge has every rule judge a subject.
func (c *Collector) Judge(s rule.Subject) {
	place := s.Where()
	in := c.rigourOf(place.Commit)
	for i := range rules.List {
		one := &rules.List[i]
		if one.StrictOnly && !c.Strict || c.lasting && !lasting(one.ID) {
			continue
		}
		severity, raisedBy, on := c.severity(one, one.Severity, in)
		if !on && !place.Mandatory {
			continue
		}
		r := rule.NewReporter(one, place, severity, raisedBy, func(f finding.Finding) { c.add(one, f, place, in) })
		for _, check := range one.Checks {
			check(s, r)
		}
	}
}

// lasting reports whether a rule is about what became of a log's entries.
func lasting(id string) bool {
	return strings.HasPrefix(id, "append-only/") || id == "divergence/lost-entry" || id == "divergence/unreconciled"
}

// severity applies the configuration, and a lane that may be nil, to a severity. by is the lane that raised it; on
// is false if the rule is off.
func (c *Collector) severity(of *rule.Rule, own finding.Severity, in *LaneRigour) (s finding.Severity, by lane.Lane, on bool) {
	level := c.policy.Rules[of.ID]
	if in != nil {
		raised := in.Rigour.Rules[of.ID]
		if in.Rigour.NoInsertions && of.Edit.Has(ledger.InsertionExplained) {
			raised = policy.Error
		}
		if raised == policy.Error || raised == policy.Warning && level == policy.Off {
			level = raised
			by = in.Lane
		}
	}
	switch level {
	case policy.Off:
		return own, "", false
	case policy.Error:
		own = finding.SeverityError
	case policy.Warning:
		own = finding.SeverityWarning
	}
	if in != nil && in.Rigour.WarningsAreErrors && own == finding.SeverityWarning {
		own, by = finding.SeverityError, in.Lane
	}
	return own, by, true
}

// rigourOf is what the lane of a commit requires; if the commit is in no change's list, the strictest of what is
// judged; nil without lanes.
func (c *Collector) rigourOf(commit string) *LaneRigour {
	var strictest *LaneRigour
	for i := range c.lanes {
		l := &c.lanes[i]
		if len(c.lanes) > 1 && slices.ContainsFunc(l.Commits, func(of history.Commit) bool { return of.ID == commit }) {
			return l
		}
		if strictest == nil || strictest.Lane.Less(l.Lane) {
			strictest = l
		}
	}
	return strictest
}

// AddLane has findings judged with the rigour of a lane from here on.
func (c *Collector) AddLane(l LaneRigour) {
	c.lanes = append(c.lanes, l)
	c.Strict = c.Strict || l.Rigour.Strict
	c.Report.Strict = c.Strict
}

func (c *Collector) add(of *rule.Rule, f finding.Finding, place rule.Place, in *LaneRigour) {
	f.Severity = cmp.Or(f.Severity, of.Severity)
	if !place.Mandatory {
		f.Severity, _, _ = c.severity(of, f.Severity, in)
	}
	if c.WarnOnly {
		f.Severity = finding.SeverityWarning
		if strings.Contains(f.Fix, "`") { // it is advice alone, and nothing to type
			f.Fix = "nothing has to be done now; it is settled when the branch is merged there"
		}
	}
	if c.lasting && f.Severity != finding.SeverityError {
		return
	}
	waiver := c.waiver(of, f)
	if waiver == nil && place.Excused || c.known(f, waiver) {
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
		if !seen || before == finding.SeverityWarning && f.Severity == finding.SeverityError || before == finding.SeverityWaived && waiver == nil {
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
	delete(entries, small.Digest{}) // where there was none
	return entries
}

// finish makes the report, also of an error that stopped the run.
func (c *Collector) finish(err error, failOnWarning bool) *finding.Report {
	r := &c.Report
	r.Findings, r.Waived = finding.SortFindings(r.Findings), finding.SortFindings(r.Waived)
	err = cmp.Or(err, c.err, c.listing.Err)
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
