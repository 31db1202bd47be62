package gate

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// collector has rules judge subjects, and takes what they find into a report: with
// severities as the configuration and the lane have them, what is waived apart, and
// each edit once.
type collector struct {
	policy *policy.Policy
	now    time.Time
	strict bool
	// lanes are what the lanes of the changes that are judged demand.
	lanes []laneRigour
	// onlyWarns makes warnings of all that is found.
	onlyWarns bool

	report  Report
	listing listing
	// reported are the edits that findings speak of.
	reported reportedEdits
	// earlier counts the findings, where the same is judged again; else nil.
	earlier *earlierFindings
	// used are the waivers that excused something, by their index.
	used map[int]bool
}

// laneRigour is what a lane demands of the commits of a change.
type laneRigour struct {
	lane    lane.Lane
	rigour  policy.Rigour
	commits []Commit
}

func newCollector(opts Options) *collector {
	return &collector{
		policy: opts.Policy, now: opts.Now, strict: opts.strict(),
		report: Report{
			Mode: opts.Mode, Strict: opts.strict(), Observe: opts.Policy.Mode == policy.Observe,
			Examined: Examined{Policy: opts.Policy.Source},
		},
		listing:  listing{find: opts.Find},
		reported: reportedEdits{}, used: map[int]bool{},
	}
}

// judge has every rule judge a subject.
func (c *collector) judge(s Subject) {
	place := s.Where()
	in := c.rigourOf(place.Commit)
	for i := range rules {
		one := &rules[i]
		if one.StrictOnly && !c.strict {
			continue
		}
		severity, raisedBy, on := c.severity(one, one.Severity, in)
		if !on && !place.Mandatory {
			continue
		}
		r := NewReporter(one, place, severity, raisedBy, func(f Finding) { c.add(one, f, place, in) })
		for _, check := range one.Checks {
			check(s, r)
		}
	}
}

// severity is what becomes of a rule's own severity by the configuration, and by a
// lane, which may be nil. by is the lane that raised it; on is false for a rule that
// is switched off.
func (c *collector) severity(of *Rule, own Severity, in *laneRigour) (s Severity, by lane.Lane, on bool) {
	level := c.policy.Rules[of.ID]
	if in != nil {
		raised := in.rigour.Rules[of.ID]
		if in.rigour.NoInsertions && of.Edit.Has(ledger.InsertionExplained) {
			raised = policy.Error
		}
		if raised == policy.Error || raised == policy.Warning && level == policy.Off {
			level = raised
			by = in.lane
		}
	}
	switch level {
	case policy.Off:
		return own, "", false
	case policy.Error:
		own = SeverityError
	case policy.Warning:
		own = SeverityWarning
	}
	if in != nil && in.rigour.WarningsAreErrors && own == SeverityWarning {
		own, by = SeverityError, in.lane
	}
	return own, by, true
}

// rigourOf is what the lane of a commit demands; where nobody knows, the strictest
// of what is judged. nil for a commit in none.
func (c *collector) rigourOf(commit string) *laneRigour {
	var strictest *laneRigour
	for i := range c.lanes {
		l := &c.lanes[i]
		if len(c.lanes) > 1 && slices.ContainsFunc(l.commits, func(of Commit) bool { return of.ID == commit }) {
			return l
		}
		if strictest == nil || strictest.lane.Less(l.lane) {
			strictest = l
		}
	}
	return strictest
}

// demand takes what a lane demands into account from here on.
func (c *collector) demand(l laneRigour) {
	c.lanes = append(c.lanes, l)
	c.strict = c.strict || l.rigour.Strict
	c.report.Strict = c.strict
}

// add takes a finding into the report.
func (c *collector) add(of *Rule, f Finding, place Place, in *laneRigour) {
	f.Severity = cmp.Or(f.Severity, of.Severity)
	if !place.Mandatory {
		f.Severity, _, _ = c.severity(of, f.Severity, in)
	}
	if c.onlyWarns {
		f.Severity = SeverityWarning
	}
	waiver := c.waiver(of, f)
	if waiver == nil && place.Excused || c.known(f, waiver) {
		return
	}
	if waiver != nil {
		c.remember(f, severityWaived)
		f.Reason = waiver.Reason
		c.listing.add(&c.report, f, severityWaived)
		return
	}
	c.remember(f, f.Severity)
	if !c.earlier.has(&f) {
		c.listing.add(&c.report, f, f.Severity)
	}
}

// known reports whether all of a finding's edits were reported before, at
// least as severely: a merge brings an edit along, and it is reported once, at the
// earliest commit. What was waived is not known where the same two versions are
// the trace of something else that no waiver names, such as another order.
func (c *collector) known(f Finding, waiver *policy.Waiver) bool {
	for _, key := range f.edits {
		before, seen := c.reported.of(key)
		if !seen || before == SeverityWarning && f.Severity == SeverityError || before == severityWaived && waiver == nil {
			return false
		}
	}
	return len(f.edits) > 0
}

func (c *collector) remember(f Finding, s Severity) {
	for _, key := range f.edits {
		c.reported.note(key, s)
	}
}

// severityWaived is remembered of an edit that a waiver excuses. No finding has
// it.
const severityWaived Severity = "waived"

// explained are the entries of a log that were edited and of which findings speak
// and, if wanted, what the edits made of them. Waived edits are left out, which
// count as equal anyway.
func (c *collector) explained(path string, withNew bool) map[small.Digest]bool {
	entries := map[small.Digest]bool{}
	for key, i := range c.reported {
		if key.path != path || severities[i] == severityWaived {
			continue
		}
		entries[key.from] = true
		if withNew {
			entries[key.to] = true
		}
	}
	delete(entries, small.Digest{}) // where there was none
	return entries
}

// finish turns what was gathered, or the error that stopped it, into the report.
func (c *collector) finish(err error, failOnWarning bool) *Report {
	r := &c.report
	r.Findings, r.Waived = sortFindings(r.Findings), sortFindings(r.Waived)
	err = cmp.Or(err, c.listing.err)
	switch {
	case err != nil:
		r.Verdict, r.Failure = Error, asFailure(err)
	case r.Count().Errors > 0, failOnWarning && r.Count().Warnings > 0:
		r.Verdict = Fail
	default:
		r.Verdict = Pass
	}
	return r
}

// onlyNew leaves out, from here on, findings that were reported before.
func (c *collector) onlyNew() { c.earlier.left = maps.Clone(c.earlier.times) }

// earlierFindings counts findings by fingerprint and severity: an error is not left
// out because there was a warning of the same.
type earlierFindings struct {
	times map[findingKey]int
	// left is what may be left out from here on; nil while nothing is.
	left map[findingKey]int
}

type findingKey struct {
	fingerprint [8]byte // its beginning
	severity    Severity
}

// has notes a finding, and reports whether it was reported earlier and is to be
// left out now.
func (e *earlierFindings) has(f *Finding) bool {
	if e == nil {
		return false
	}
	sum := f.sum()
	key := findingKey{[8]byte(sum[:8]), f.Severity}
	for _, k := range []findingKey{key, {key.fingerprint, SeverityError}} {
		if e.left[k] > 0 {
			e.left[k]--
			return true
		}
	}
	e.times[key]++
	return false
}
