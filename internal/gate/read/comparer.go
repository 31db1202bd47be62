package read

import (
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/gate/rules/workspace"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// LogComparer compares versions of one log as the gate does where a merge is judged,
// for whoever makes what the gate is to pass: two entries that a waiver makes
// equal are equal, and one whose deletion is waived may be missing.
type LogComparer struct {
	equal    ledger.Equivalence
	baseline *policy.Baseline
	waivers  []policy.Waiver
	ordered  bool
}

// Comparer is what a configuration says about the log at a path, and where it was
// before it moved. Waivers that
// have ended at now do not count.
func NewLogComparer(p *policy.Policy, path string, now time.Time, was ...string) LogComparer {
	level, set := p.Rules[workspace.TimestampOrder.ID]
	paths := append([]string{path}, was...)
	var baseline *policy.Baseline
	for _, at := range slices.Backward(paths) {
		if b := p.BaselineFor(at); b != nil {
			baseline = b
		}
	}
	return LogComparer{
		equal: equivalenceFor(p, now, paths...), baseline: baseline, waivers: modifications(p, now, paths...),
		ordered: p.Mode == policy.Enforce && (!set || level == policy.Error),
	}
}

// Class is the digest that stands for an entry and all that count as equal.
func (s LogComparer) Class(d small.Digest) small.Digest { return s.equal.Class(d) }

// Leads reports whether waivers let one version of an entry be changed into
// another.
func (s LogComparer) AllowsTransition(from, to small.Digest) bool {
	return s.equal.AllowsTransition(from, to)
}

// MayLack reports whether an entry may be missing from a later version.
func (s LogComparer) MayLack(d small.Digest) bool { return s.equal.Dropped[d] }

// Accepts reports whether the step from a parent's ledger to a child's is one
// that is no finding: the parent is a part of the child from the beginning on,
// or in order with a reconcile entry behind it that the parent lacks.
func (s LogComparer) Accepts(parent, child *ledger.Ledger) bool {
	return ledger.Relate(parent, child, s.equal).Allowed()
}

// Keeps reports whether the child holds every entry of the parent in order,
// whatever stands between them.
func (s LogComparer) Keeps(parent, child *ledger.Ledger) bool {
	return ledger.Relate(parent, child, s.equal).Relation != ledger.Rewritten
}

// Only lists the entries of a that b lacks and may not lack.
func (s LogComparer) Only(a, b *ledger.Ledger) []ledger.Entry { return ledger.Only(a, b, s.equal) }

// Baselined reports whether a ledger begins with the log's baseline. Without a
// baseline none does.
func (s LogComparer) Baselined(l *ledger.Ledger) bool {
	return s.baseline != nil && matchBaseline(s.baseline, l, s.waivers) != nil
}

// Ordered reports whether a log is rejected whose times do not increase behind
// the baseline.
func (s LogComparer) Ordered() bool { return s.ordered }

// BaselineEntries is how many entries the log's baseline accepts; 0 if it has
// none.
func (s LogComparer) BaselineEntries() int {
	if s.baseline == nil {
		return 0
	}
	return s.baseline.Entries
}
