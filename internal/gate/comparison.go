package gate

import (
	"slices"
	"sync"

	"github.com/small-gate/small-gate/internal/small"
)

// comparison is how one log became another and, where entries were rewritten, what
// happened to each of them.
type comparison struct {
	// old and now are the two ledgers; now is nil where the log is gone.
	old, now *small.Ledger
	// oldRecords and nowRecords give their entries in full; nil where nothing was
	// compared.
	oldRecords, nowRecords recordsFunc
	relation               relation
	// edits explains a rewritten log.
	edits []edit
	// excused are edits that waivers make equal.
	excused []edit
	// inserted are the indexes in now of the entries that stand before older ones, of
	// an interleaved log.
	inserted []int
	// marker is the index in now of the entry that makes insertions explicit, -1 if
	// none does.
	marker int
	// past are entries that a baseline accepts, which count on neither side.
	past map[small.Digest]bool
}

// reconciled reports whether insertions are made explicit.
func (e *comparison) reconciled() bool { return e.marker >= 0 }

// ofKind lists the explained edits of one kind in the order of their places.
func (e *comparison) ofKind(kind editKind) []edit {
	var out []edit
	for _, x := range e.edits {
		if x.kind == kind {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b edit) int {
		if a.before != b.before {
			return a.before - b.before
		}
		return a.after - b.after
	})
	return out
}

// comparing is what comparing two ledgers needs beside them.
type comparing struct {
	// equal is what counts as equal.
	equal equivalence
	// before and after give the entries in full, for an explanation.
	before, after recordsFunc
	// mayPair says which added entry may be the new version of a lost one.
	mayPair func(lost, added int) bool
}

// compare says how one ledger became another.
func compare(p, c *small.Ledger, with comparing) (*comparison, error) {
	with.before, with.after = sync.OnceValues(with.before), sync.OnceValues(with.after)
	e := &comparison{old: p, now: c, oldRecords: with.before, nowRecords: with.after, past: with.equal.past, marker: -1}
	if c.Extends(p) {
		e.relation = extended
		if c.Len() == p.Len() {
			e.relation = identical
		}
		return e, nil
	}
	pd, cd := with.equal.view(digestsOf(p), digestsOf(c))
	e.relation = relate(pd.digests, cd.digests)
	switch e.relation {
	case interleaved:
		places := subsequence(pd.digests, cd.digests)
		e.inserted = cd.at(missing(places))
		e.marker = resolvedBy(p, c, cd.places[places[len(places)-1]])
	case rewritten:
		mayPair := func(lost, added int) bool {
			return with.mayPair == nil || with.mayPair(pd.places[lost], cd.places[added])
		}
		found, err := explain(pd.digests, cd.digests, pd.records(with.before), cd.records(with.after), mayPair)
		if err != nil {
			return nil, err
		}
		for i := range found.edits {
			x := &found.edits[i]
			if x.before >= 0 {
				x.before = pd.places[x.before]
			}
			if x.after >= 0 {
				x.after = cd.places[x.after]
			}
		}
		e.edits = found.edits
		last := -1
		if found.last >= 0 {
			last = cd.places[found.last]
		}
		e.marker = resolvedBy(p, c, last)
	}
	return e, e.excuse(pd, cd, with)
}

// excuse lists the edits that do not show in the comparison because waivers
// make both versions equal or let an entry be missing. What goes one way against
// its waiver is an edit like any other.
func (e *comparison) excuse(parent, child sequence, with comparing) error {
	for _, place := range parent.dropped {
		e.excused = append(e.excused, edit{kind: editDeleted, before: place, after: -1})
	}
	if len(with.equal.same) == 0 {
		return nil
	}
	var old, now []*small.Value
	for _, pair := range align(parent.digests, child.digests).kept {
		before, after := parent.places[pair[0]], child.places[pair[1]]
		if e.old.Entries[before].Digest == e.now.Entries[after].Digest {
			continue
		}
		if old == nil {
			var err error
			if old, err = with.before(); err != nil {
				return err
			}
			if now, err = with.after(); err != nil {
				return err
			}
		}
		x := modification(old[before], now[after], before, after)
		if !with.equal.leads(e.old.Entries[before].Digest, e.now.Entries[after].Digest) {
			e.edits, e.relation = append(e.edits, x), rewritten
			continue
		}
		e.excused = append(e.excused, x)
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
