package gate

import (
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// FutureTolerance is how far ahead of now an entry that is new in a change may
// be dated.
const FutureTolerance = clockTolerance

// Sides compares versions of one log as the gate does where a merge is judged,
// for whoever makes what the gate is to pass: two entries that a waiver makes
// equal are equal, and one whose deletion is waived may be missing.
type Sides struct {
	equal    equivalence
	baseline *policy.Baseline
	waivers  []policy.Waiver
	ordered  bool
}

// SidesOf is what a configuration says about the log at a path, and where it was
// before it moved. Waivers that
// have ended at now do not count.
func SidesOf(p *policy.Policy, path string, now time.Time, was ...string) Sides {
	level, set := p.Rules[ruleTimestampOrder.ID]
	paths := append([]string{path}, was...)
	var baseline *policy.Baseline
	for _, at := range slices.Backward(paths) {
		if b := p.BaselineFor(at); b != nil {
			baseline = b
		}
	}
	return Sides{
		equal: equivalenceFor(p, now, paths...), baseline: baseline, waivers: modifications(p, now, paths...),
		ordered: p.Mode == policy.Enforce && (!set || level == policy.Error),
	}
}

// Class is the digest that stands for an entry and all that count as equal.
func (s Sides) Class(d small.Digest) small.Digest { return s.equal.class(d) }

// Leads reports whether waivers let one version of an entry be changed into
// another.
func (s Sides) Leads(from, to small.Digest) bool { return s.equal.leads(from, to) }

// MayLack reports whether an entry may be missing from a later version.
func (s Sides) MayLack(d small.Digest) bool { return s.equal.dropped[d] }

// Accepts reports whether the step from a parent's ledger to a child's is one
// that is no finding: the parent is a part of the child from the beginning on,
// or in order with a reconcile entry behind it that the parent lacks.
func (s Sides) Accepts(parent, child *small.Ledger) bool {
	return relateWithin(parent, child, s.equal).fine()
}

// Keeps reports whether the child holds every entry of the parent in order,
// whatever stands between them.
func (s Sides) Keeps(parent, child *small.Ledger) bool {
	return relateWithin(parent, child, s.equal).relation != rewritten
}

// Only lists the entries of a that b lacks and may not lack.
func (s Sides) Only(a, b *small.Ledger) []small.Entry { return only(a, b, s.equal) }

// Baselined reports whether a ledger begins with the log's baseline. Without a
// baseline none does.
func (s Sides) Baselined(l *small.Ledger) bool {
	return s.baseline != nil && recognize(s.baseline, l, s.waivers) != nil
}

// Ordered reports whether a log is rejected whose times do not increase behind
// the baseline.
func (s Sides) Ordered() bool { return s.ordered }

// BaselineEntries is how many entries the log's baseline accepts; 0 if it has
// none.
func (s Sides) BaselineEntries() int {
	if s.baseline == nil {
		return 0
	}
	return s.baseline.Entries
}

// Instant reads an entry's timestamp, in any form of RFC 3339. ok is false where
// it is none.
func Instant(e small.Entry) (at time.Time, ok bool) { return parseInstant(e.Timestamp) }

// EntryWords names an entry for people: number, task and time. It holds text of
// the file.
func EntryWords(e small.Entry) string { return entryWords(e) }

// EntryList names several entries, the first few of many.
func EntryList(entries []small.Entry) string { return entryList(entries) }
