package read

import (
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// modifications are the waivers that let entries of a log be changed, in the configuration's order.
func modifications(p *policy.Policy, now time.Time, paths ...string) []policy.Waiver {
	return slices.DeleteFunc(slices.Clone(p.Waivers), func(w policy.Waiver) bool {
		return !slices.Contains(paths, w.Path) || !w.Edit.Has(ledger.EntryChanged) || w.From == nil || w.To == nil || w.Expired(now)
	})
}

// equivalenceFor gathers the waivers of one log, given the paths that it has and had, that are valid at now.
func equivalenceFor(p *policy.Policy, now time.Time, paths ...string) ledger.Equivalence {
	var eq ledger.Equivalence
	for _, w := range p.Waivers {
		if !slices.Contains(paths, w.Path) || w.From == nil || w.Expired(now) {
			continue
		}
		switch {
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
	for grown := eq.Dropped != nil; grown; { // what may become what may be missing
		grown = false
		for from, versions := range eq.Edits {
			if !eq.Dropped[from] && slices.ContainsFunc(versions, func(d small.Digest) bool { return eq.Dropped[d] }) {
				eq.Dropped[from], grown = true, true
			}
		}
	}
	return eq
}
