package subject

import (
	"slices"

	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// WorkspaceFork is one workspace on two branches and where they parted: the target is to be merged into, the head is to be
// merged.
type WorkspaceFork struct {
	rule.Place
	Dir string
	// Bases are the best common ancestors. After criss-cross merges there are several, and only what differs from
	// each was changed on a side.
	Bases        []*Workspace
	Target, Head *Workspace
	// TargetOnly and HeadOnly are the entries that one side recorded since, and that the other lacks.
	TargetOnly, HeadOnly []ledger.Entry
	// Duplicates are pairs of these, the target's first, that say the same at two times.
	Duplicates           [][2]ledger.Entry
	TargetName, HeadName string
	// Predicts is true if the two are about to be merged.
	Predicts bool
}

// BothChanged reports whether both sides changed a text, and differently. of reads it from a workspace; ok is
// false if there is none.
func (v *WorkspaceFork) BothChanged(of func(*Workspace) (string, bool)) bool {
	target, okTarget := of(v.Target)
	head, okHead := of(v.Head)
	if !okTarget || !okHead || target == head {
		return false
	}
	return !slices.ContainsFunc(v.Bases, func(w *Workspace) bool {
		base, _ := of(w)
		return base == target || base == head
	})
}

// CanonicalOf reads an artifact in canonical form.
func CanonicalOf(a small.Artifact) func(*Workspace) (string, bool) {
	return func(w *Workspace) (string, bool) {
		doc := w.Doc(a)
		if doc == nil {
			return "", false
		}
		return doc.Canonical(), true
	}
}

// Follows reports whether the side with ledger c holds all that the side with ledger p recorded since the fork,
// and p recorded something.
func (v *WorkspaceFork) Follows(p, c *ledger.Ledger, equal ledger.Equivalence) bool {
	if !ledger.Relate(p, c, equal).Allowed() {
		return false
	}
	return !slices.ContainsFunc(v.Bases, func(w *Workspace) bool { return len(ledger.Since(p.Entries, w.Ledger())) == 0 })
}
