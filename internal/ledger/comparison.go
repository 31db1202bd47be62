package ledger

import (
	"slices"
	"sync"

	"github.com/small-gate/small-gate/internal/small"
)

// Comparison is how one log became another and, where entries were rewritten, what
// happened to each of them.
type Comparison struct {
	// Old and now are the two ledgers; now is nil where the log is gone.
	Old, New *Ledger
	// OldRecords and nowRecords give their entries in full; nil where nothing was
	// compared.
	OldRecords, NewRecords RecordsFunc
	Relation               relation
	// Edits explains a rewritten log.
	Edits []Edit
	// Waived are edits that waivers make equal.
	Waived []Edit
	// Inserted are the indexes in now of the entries that stand before older ones, of
	// an interleaved log.
	Inserted []int
	// Marker is the index in now of the entry that makes insertions explicit, -1 if
	// none does.
	ReconcileEntry int
	// Accepted are entries that a baseline accepts, which count on neither side.
	Accepted map[small.Digest]bool
}

// Reconciled reports whether insertions are made explicit.
func (e *Comparison) Reconciled() bool { return e.ReconcileEntry >= 0 }

// OfKind lists the explained edits of one kind in the order of their places.
func (e *Comparison) OfKind(kind EditKind) []Edit {
	var out []Edit
	for _, x := range e.Edits {
		if x.Kind == kind {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b Edit) int {
		if a.OldIndex != b.OldIndex {
			return a.OldIndex - b.OldIndex
		}
		return a.NewIndex - b.NewIndex
	})
	return out
}

// CompareOptions is what comparing two ledgers needs beside them.
type CompareOptions struct {
	// Equal is what counts as equal.
	Equal Equivalence
	// Before and after give the entries in full, for an explanation.
	OldRecords, NewRecords RecordsFunc
	// MayPair says which added entry may be the new version of a lost one.
	MayPair func(lost, added int) bool
}

// Compare says how one ledger became another.
func Compare(p, c *Ledger, with CompareOptions) (*Comparison, error) {
	with.OldRecords, with.NewRecords = sync.OnceValues(with.OldRecords), sync.OnceValues(with.NewRecords)
	e := &Comparison{Old: p, New: c, OldRecords: with.OldRecords, NewRecords: with.NewRecords, Accepted: with.Equal.Accepted, ReconcileEntry: -1}
	if c.Extends(p) {
		e.Relation = Extended
		if c.Len() == p.Len() {
			e.Relation = identical
		}
		return e, nil
	}
	pd, cd := with.Equal.normalize(DigestsOf(p), DigestsOf(c))
	e.Relation = relateDigests(pd.digests, cd.digests)
	switch e.Relation {
	case Interleaved:
		places := Subsequence(pd.digests, cd.digests)
		e.Inserted = cd.at(missing(places))
		e.ReconcileEntry = findReconcileEntry(p, c, cd.indexes[places[len(places)-1]])
	case Rewritten:
		mayPair := func(lost, added int) bool {
			return with.MayPair == nil || with.MayPair(pd.indexes[lost], cd.indexes[added])
		}
		found, err := diffEntries(pd.digests, cd.digests, pd.records(with.OldRecords), cd.records(with.NewRecords), mayPair)
		if err != nil {
			return nil, err
		}
		for i := range found.edits {
			x := &found.edits[i]
			if x.OldIndex >= 0 {
				x.OldIndex = pd.indexes[x.OldIndex]
			}
			if x.NewIndex >= 0 {
				x.NewIndex = cd.indexes[x.NewIndex]
			}
		}
		e.Edits = found.edits
		last := -1
		if found.last >= 0 {
			last = cd.indexes[found.last]
		}
		e.ReconcileEntry = findReconcileEntry(p, c, last)
	}
	return e, e.addWaived(pd, cd, with)
}

// excuse lists the edits that do not show in the comparison because waivers
// make both versions equal or let an entry be missing. What goes one way against
// its waiver is an edit like any other.
func (e *Comparison) addWaived(parent, child sequence, with CompareOptions) error {
	for _, place := range parent.dropped {
		e.Waived = append(e.Waived, Edit{Kind: EditDeleted, OldIndex: place, NewIndex: -1})
	}
	if len(with.Equal.Same) == 0 {
		return nil
	}
	var old, now []*small.Value
	for _, pair := range align(parent.digests, child.digests).kept {
		before, after := parent.indexes[pair[0]], child.indexes[pair[1]]
		if e.Old.Entries[before].Digest == e.New.Entries[after].Digest {
			continue
		}
		if old == nil {
			var err error
			if old, err = with.OldRecords(); err != nil {
				return err
			}
			if now, err = with.NewRecords(); err != nil {
				return err
			}
		}
		x := modification(old[before], now[after], before, after)
		if !with.Equal.AllowsTransition(e.Old.Entries[before].Digest, e.New.Entries[after].Digest) {
			e.Edits, e.Relation = append(e.Edits, x), Rewritten
			continue
		}
		e.Waived = append(e.Waived, x)
	}
	return nil
}

// missing lists the numbers below the last of places that are not in places.
func missing(places []int) []int {
	var out []int
	next := 0
	for _, at := range places {
		for ; next < at; next++ {
			out = append(out, next)
		}
		next = at + 1
	}
	return out
}
