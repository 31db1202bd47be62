package read

import (
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
)

// LogComparer is what a configuration says about one log, for whoever makes a log that the gate is to pass: the entries that
// waivers make equal or let be missing, and the baseline.
type LogComparer struct {
	ledger.Equivalence
	Policy *policy.Policy
	// Baseline is nil if the log has none.
	Baseline *policy.Baseline

	waivers []policy.Waiver
}

// NewLogComparer is the comparer of the log at a path, and where it was before it moved. Waivers that have ended at now do not count.
func NewLogComparer(p *policy.Policy, path string, now time.Time, was ...string) LogComparer {
	paths := append([]string{path}, was...)
	c := LogComparer{
		Policy: p, Equivalence: equivalenceFor(p, now, paths...), waivers: modifications(p, now, paths...),
	}
	for _, at := range slices.Backward(paths) {
		if b := p.BaselineFor(at); b != nil {
			c.Baseline = b
		}
	}
	return c
}

// Accepts reports whether the step from a parent's ledger to a child's is no finding: the child continues the parent, or holds it in
// order with a reconcile entry after it that the parent lacks.
func (c LogComparer) Accepts(parent, child *ledger.Ledger) bool {
	return ledger.Relate(parent, child, c.Equivalence).Allowed()
}

// Keeps reports whether the child holds every entry of the parent in order, whatever stands between them.
func (c LogComparer) Keeps(parent, child *ledger.Ledger) bool {
	return ledger.Relate(parent, child, c.Equivalence).Relation != ledger.Rewritten
}

// Baselined reports whether a ledger begins with the baseline. Without one, none does.
func (c LogComparer) Baselined(l *ledger.Ledger) bool {
	return c.Baseline != nil && matchBaseline(c.Baseline, l, c.waivers) != nil
}
