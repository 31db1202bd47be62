package read

import (
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// changeWaivers returns the valid waivers that let an entry of a log become another, in the configuration's order.
func changeWaivers(p *policy.Policy, now time.Time, paths ...string) []policy.Waiver {
	return slices.DeleteFunc(slices.Clone(p.Waivers), func(w policy.Waiver) bool {
		return !slices.Contains(paths, w.Path) || !w.Edit.Has(ledger.EntryChanged) || w.From == nil || w.To == nil || w.Expired(now)
	})
}

// equivalenceFor combines the waivers of one log that are valid at now. paths are where the log is and was.
func equivalenceFor(p *policy.Policy, now time.Time, paths ...string) ledger.Equivalence {
	var eq ledger.Equivalence
	for _, w := range p.Waivers {
		if !slices.Contains(paths, w.Path) || w.From == nil || w.Expired(now) {
			continue
		}
		switch {
		case w.OfLog && w.To != nil:
			stanza := p.LogFor(w.Path)
			eq.Rewrites = append(eq.Rewrites, ledger.NewRewrite(*w.From, *w.To, stanza.Unordered(), stanza != nil && !stanza.Form().ComparesWhole()))
		case w.Edit.Has(ledger.EntryChanged) && w.To != nil:
			if eq.Same == nil {
				eq.Same = map[small.Digest]small.Digest{}
				eq.Edits = map[small.Digest][]small.Digest{}
			}
			eq.Edits[*w.From] = append(eq.Edits[*w.From], *w.To)
			from, to := eq.Class(*w.From), eq.Class(*w.To)
			if from != to {
				eq.Same[from] = to
			}
		case w.Edit.Has(ledger.EntryLost) && w.To == nil:
			if eq.Dropped == nil {
				eq.Dropped = map[small.Digest]bool{}
			}
			eq.Dropped[*w.From] = true
		}
	}
	for grown := eq.Dropped != nil; grown; { // if an entry may become one that may be missing, it may be missing itself
		grown = false
		for from, versions := range eq.Edits {
			if !eq.Dropped[from] && slices.ContainsFunc(versions, func(d small.Digest) bool { return eq.Dropped[d] }) {
				eq.Dropped[from], grown = true, true
			}
		}
	}
	return eq
}

// LogComparer says whether the gate would accept a new version of one log: by the waivers and the baseline of a configuration. The commands that
// write logs use it.
type LogComparer struct {
	ledger.Equivalence
	Policy *policy.Policy
	// Baseline is nil if the log has none.
	Baseline *policy.Baseline

	waivers []policy.Waiver
	// unordered is true for a log whose entries have no order.
	unordered bool
}

// NewLogComparer makes the comparer for the log at path; was holds its paths before it moved. Waivers that have expired at now do not count.
func NewLogComparer(p *policy.Policy, path string, now time.Time, was ...string) LogComparer {
	paths := append([]string{path}, was...)
	c := LogComparer{
		Policy: p, Equivalence: equivalenceFor(p, now, paths...), waivers: changeWaivers(p, now, paths...),
		unordered: p.LogFor(path).Unordered(),
	}
	for _, at := range slices.Backward(paths) {
		if b := p.BaselineFor(at); b != nil {
			c.Baseline = b
		}
	}
	return c
}

// Accepts reports whether a child's ledger may follow a parent's. The child continues the parent, or has the parent's entries in order and
// after them a reconcile entry that the parent lacks. If the log has no order, the child has the parent's entries.
func (c LogComparer) Accepts(parent, child *ledger.Ledger) bool {
	if c.unordered {
		return c.Keeps(parent, child)
	}
	return ledger.Relate(parent, child, c.Equivalence).Allowed()
}

// Keeps reports whether the child has every entry of the parent, in order if the log has an order. Others may stand between them.
func (c LogComparer) Keeps(parent, child *ledger.Ledger) bool {
	if c.unordered {
		return len(ledger.Only(c.ApplyRewrite(parent, child), child, c.Equivalence)) == 0
	}
	return ledger.Relate(parent, child, c.Equivalence).Relation != ledger.Rewritten
}

// BeginsWithBaseline reports whether a ledger begins with the log's baseline; it is false if the log has none.
func (c LogComparer) BeginsWithBaseline(l *ledger.Ledger) bool {
	return c.Baseline != nil && matchBaseline(c.Baseline, l, c.waivers) != nil
}
