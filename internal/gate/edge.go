package gate

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

// LogEdge is one ledger's way from a parent to a child, compared and, where
// entries were rewritten, explained. Rules about edges read it.
type LogEdge struct {
	Place
	remedies Remedies
	path     string
	// was is the log's path in the parent, where it has moved since.
	was string
	// p and c are the parent's and the child's ledger; c is nil where the
	// child's log is gone.
	p, c *small.Ledger
	// before and after give the entries of p and c in full; nil where nothing
	// was compared.
	before, after recordsFunc
	merge         bool
	// gone is true if p stood at the path before the parent, which has no log there.
	gone bool
	// side names the parent among several, for messages.
	side string
	// parents are all of the child's, the first one first, where it is a merge.
	parents  []string
	relation relation
	// edits explains a rewritten edge.
	edits []edit
	// excused are edits that waivers make equal.
	excused []edit
	// inserted are the places in c of the entries that stand before older
	// ones, on an interleaved edge.
	inserted []int
	// marker is the place in c of the entry that resolves the edge, -1 if
	// none does.
	marker int
	// fresh are the places in c of the entries that no parent has; intruders
	// are those among them that stand before an entry of a parent. On one
	// edge of a merge only.
	fresh, intruders []int
	// past are entries that a baseline accepts, where they count on neither side.
	past map[small.Digest]bool
	now  time.Time
	// strict turns what is a warning of a snapshot into an error of new entries.
	strict bool
	// switches is true of a job's switch history: rules about logs do not speak of
	// it.
	switches bool
}

// subject is what rules judge: those about logs do not speak of switches.
func (e *LogEdge) subject() Subject {
	if e.switches {
		return SwitchEdge{e}
	}
	return e
}

// setParent says whose edge it is: that of a node to one of its parents.
func (e *LogEdge) setParent(n node, side int) {
	if len(n.parents) == 0 {
		return
	}
	e.Parent, e.side = n.parents[side], sideName(side, n.parents[side])
	if e.merge = len(n.parents) > 1; e.merge {
		e.parents = n.parents
	}
}

// reconciled reports whether the edge's insertions are made explicit.
func (e *LogEdge) reconciled() bool { return e.marker >= 0 }

// ofKind lists the explained edits of one kind in the order of their places.
func (e *LogEdge) ofKind(kind editKind) []edit {
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

// place is the line and column in the child's file of what an edit changed:
// the first changed field, or the entry; for an entry that is gone, where it
// would stand.
func (e *LogEdge) place(x edit) small.Pos {
	if x.pos.Line > 0 {
		return x.pos
	}
	if x.after >= 0 {
		return e.c.Entries[x.after].Pos
	}
	if e.c.Len() == 0 {
		return small.Pos{}
	}
	return e.c.Entries[min(x.before, e.c.Len()-1)].Pos
}

// finding begins the finding of one edit: places, references, digests and the
// key under which the edit is reported once.
func (e *LogEdge) finding(x edit) Finding {
	pos := e.place(x)
	f := Finding{Path: e.path, was: e.was, Line: pos.Line, Column: pos.Column, Changes: x.changes}
	if x.before >= 0 {
		f.Entry = refOf(e.p.Entries[x.before])
		f.EditFrom = f.Entry.Digest.String()
	}
	if x.after >= 0 {
		after := refOf(e.c.Entries[x.after])
		f.EditTo = after.Digest.String()
		if f.Entry == nil {
			f.Entry = after
		} else {
			f.EntryAfter = after
		}
	}
	if x.kind == editDeleted {
		f.whole = wholeEntry(e.before, x.before, func(v *small.Value) []FieldChange { return fieldChanges(v, nil) })
	}
	f.edits = []editKey{{path: cmp.Or(e.was, e.path), from: f.EditFrom, to: f.EditTo}}
	return f
}

// insertion begins the finding of an entry that was put in.
func (e *LogEdge) insertion(place int) Finding {
	f := e.finding(edit{kind: editInserted, before: -1, after: place})
	f.whole = wholeEntry(e.after, place, func(v *small.Value) []FieldChange { return fieldChanges(nil, v) })
	return f
}

// wholeEntry gives every field of one entry as a change.
func wholeEntry(records recordsFunc, at int, changes func(*small.Value) []FieldChange) func() ([]FieldChange, error) {
	if records == nil {
		return nil
	}
	return func() ([]FieldChange, error) {
		all, err := records()
		if err != nil {
			return nil, err
		}
		return changes(all[at]), nil
	}
}

// comparison is what comparing two ledgers needs beside them.
type comparison struct {
	// path is the log's in the child, was that in the parent.
	path, was string
	equal     equivalence
	// before and after give the entries in full, for an explanation.
	before, after recordsFunc
	// mayPair says which added entry may be the new version of a lost one.
	mayPair func(lost, added int) bool
}

// compare relates a parent's ledger to a child's.
func compare(p, c *small.Ledger, with comparison) (*LogEdge, error) {
	with.before, with.after = sync.OnceValues(with.before), sync.OnceValues(with.after)
	e := &LogEdge{
		path: with.path, was: with.was, p: p, c: c, before: with.before, after: with.after,
		past: with.equal.past, marker: -1,
	}
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
		told, err := explain(pd.digests, cd.digests, pd.records(with.before), cd.records(with.after), mayPair)
		if err != nil {
			return nil, err
		}
		for i := range told.edits {
			x := &told.edits[i]
			if x.before >= 0 {
				x.before = pd.places[x.before]
			}
			if x.after >= 0 {
				x.after = cd.places[x.after]
			}
		}
		e.edits = told.edits
		last := -1
		if told.last >= 0 {
			last = cd.places[told.last]
		}
		e.marker = resolvedBy(p, c, last)
	}
	return e, e.excuse(pd, cd, with)
}

// excuse lists the edits that do not show in the comparison because waivers
// make both versions equal or let an entry be missing. What goes one way against
// its waiver is an edit like any other.
func (e *LogEdge) excuse(parent, child sequence, with comparison) error {
	for _, place := range parent.dropped {
		e.excused = append(e.excused, edit{kind: editDeleted, before: place, after: -1})
	}
	if len(with.equal.same) == 0 {
		return nil
	}
	var old, now []*small.Value
	for _, pair := range align(parent.digests, child.digests).kept {
		before, after := parent.places[pair[0]], child.places[pair[1]]
		if e.p.Entries[before].Digest == e.c.Entries[after].Digest {
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
		if !with.equal.leads(e.p.Entries[before].Digest, e.c.Entries[after].Digest) {
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

// sideName names a parent of a merge for people.
func sideName(index int, id string) string {
	if index == 0 {
		return "our side (" + short(id) + ")"
	}
	return "the merged side (" + short(id) + ")"
}

// SwitchEdge is the way of a record's history of switches.
type SwitchEdge struct{ *LogEdge }

// UnreadableLog is a log, or a record, that a child has and that cannot be read as
// one.
type UnreadableLog struct {
	Place
	path, object string
	problems     []small.Problem
	// isJob and isCampaign are true of records.
	isJob, isCampaign bool
}
