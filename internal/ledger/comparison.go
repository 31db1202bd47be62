package ledger

import (
	"cmp"
	"slices"
	"sync"

	"github.com/small-gate/small-gate/internal/small"
)

// Comparison tells how one log became another and, if entries were rewritten, what happened to each of them.
type Comparison struct {
	// Old and New are the two ledgers; New is nil if the log is gone.
	Old, New *Ledger
	// OldRecords and NewRecords return their entries in full; nil if nothing was compared.
	OldRecords, NewRecords RecordsFunc
	Relation               relation
	// KeptOrder is true if New has every entry of Old in the same order. Versions that waivers make equal count as the same entry.
	KeptOrder bool
	// Edits are the changes of entries of Old, including those that waivers allow.
	Edits []Edit
	// Inserted are the indexes in New, in rising order, of new entries before older ones.
	Inserted []int
	// ReconcileEntry is the index in New of the entry that makes insertions explicit; -1 if there is none.
	ReconcileEntry int
	// Accepted are the entries that a baseline accepts; neither side counts them.
	Accepted map[small.Digest]bool
	// Approved is the approved rewrite that was applied to Old before the comparison; nil if there is none.
	Approved *Rewrite
}

// Reconciled reports whether a reconcile entry makes the insertions explicit.
func (e *Comparison) Reconciled() bool { return e.ReconcileEntry >= 0 }

// OfKind lists the edits of one kind, sorted by their indexes.
func (e *Comparison) OfKind(kind EditKind) []Edit {
	var out []Edit
	for _, x := range e.Edits {
		if x.Kind == kind {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b Edit) int { return cmp.Or(a.OldIndex-b.OldIndex, a.NewIndex-b.NewIndex) })
	return out
}

// CompareOptions are the other inputs of Compare.
type CompareOptions struct {
	Equal Equivalence
	// OldRecords and NewRecords return the entries in full; they are called only to explain a rewritten log.
	OldRecords, NewRecords RecordsFunc
	// MayPair reports whether an added entry may be the new version of a lost one.
	MayPair func(lost, added *Entry) bool
}

// Compare tells how p became c.
func Compare(p, c *Ledger, with CompareOptions) (*Comparison, error) {
	with.OldRecords, with.NewRecords = sync.OnceValues(with.OldRecords), sync.OnceValues(with.NewRecords)
	e := &Comparison{Old: p, New: c, OldRecords: with.OldRecords, NewRecords: with.NewRecords, Accepted: with.Equal.Accepted, ReconcileEntry: -1}
	if c.Extends(p) {
		e.Relation, e.KeptOrder = Extended, true
		if c.Len() == p.Len() {
			e.Relation = identical
		}
		return e, nil
	}
	if x := with.Equal.findRewritten(p, c); x != nil {
		p, with.OldRecords = x.Ledger, x.records(with.OldRecords, with.NewRecords)
		e.Old, e.OldRecords, e.Approved = p, with.OldRecords, x.rewrite
	}
	pd, cd := with.Equal.normalize(DigestsOf(p), DigestsOf(c))
	var indexes []int
	e.Relation, indexes = relateDigests(pd.digests, cd.digests)
	e.KeptOrder = e.Relation != Rewritten
	switch e.Relation {
	case Interleaved:
		e.Inserted, e.ReconcileEntry = findInsertions(p, c, cd, indexes)
	case Rewritten:
		mayPair := func(lost, added int) bool {
			return with.MayPair == nil || with.MayPair(&p.Entries[pd.indexes[lost]], &c.Entries[cd.indexes[added]])
		}
		found, err := diffEntries(pd.digests, cd.digests, pd.records(with.OldRecords), cd.records(with.NewRecords), mayPair, p.isConfigured(), p.Len() > 0 && p.Entries[0].Noun == File)
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
		e.Edits, e.Inserted = found.edits, cd.toLedgerIndexes(found.inserted)
		last := -1
		if found.last >= 0 {
			last = cd.indexes[found.last]
		}
		e.ReconcileEntry = findReconcileEntry(p, c, last)
	}
	return e, e.addWaived(pd, cd, with)
}

// addWaived adds the edits that waivers hide from the comparison. A change that no waiver allows in this direction is an edit like any
// other.
func (e *Comparison) addWaived(parent, child sequence, with CompareOptions) error {
	for _, index := range parent.dropped {
		e.Edits = append(e.Edits, Edit{Kind: EditDeleted, OldIndex: index, NewIndex: -1, Waived: true})
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
		x := newModification(old[before], now[after], before, after, e.Old.isConfigured())
		if x.Waived = with.Equal.AllowsTransition(e.Old.Entries[before].Digest, e.New.Entries[after].Digest); !x.Waived {
			e.Relation = Rewritten
		}
		e.Edits = append(e.Edits, x)
	}
	return nil
}

// gaps lists the numbers below the last index that are missing among the indexes, which rise.
func gaps(indexes []int) []int {
	var out []int
	next := 0
	for _, at := range indexes {
		for ; next < at; next++ {
			out = append(out, next)
		}
		next = at + 1
	}
	return out
}
