package gate

import (
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// outcome is how the logs of two branches compare.
type outcome int

const (
	inLine   outcome = iota // one goes on from the other, or the order is made explicit
	mixed                   // one is a subsequence of the other, unresolved
	diverged                // each has entries that the other lacks
)

// divergence is how the logs of two branches compare: the target, that is to be merged
// into, and the head, that is to be merged.
type divergence struct {
	target, head *small.Ledger
	outcome      outcome
	// inserted are the entries that stand before older ones of the other
	// branch.
	inserted []small.Entry
	// insertedByTarget says that these are the target's; else they are the
	// head's.
	insertedByTarget bool
	// targetOnly and headOnly are each branch's own entries.
	targetOnly, headOnly []small.Entry
}

// diverge relates the ledgers of two branches. The edge either way may be
// fine or resolved. explained are the entries that were edited on the edges of
// the range: what that accounts for is not divergence.
func diverge(target, head *small.Ledger, equal equivalence, explained map[small.Digest]bool) *divergence {
	t := &divergence{target: target, head: head}
	forth := relateWithin(target, head, equal)
	back := relateWithin(head, target, equal)
	if forth.fine() || back.fine() {
		return t
	}
	switch {
	case forth.relation == interleaved:
		t.outcome = mixed
		t.inserted = at(head, forth.inserted)
	case back.relation == interleaved:
		if t.explainedBy(explained, equal) {
			return t // the head lost what it lacks, which is reported already
		}
		t.outcome = mixed
		t.inserted, t.insertedByTarget = at(target, back.inserted), true
	default:
		t.targetOnly = only(target, head, equal)
		t.headOnly = only(head, target, equal)
		if t.explainedBy(explained, equal) {
			return t
		}
		t.outcome = diverged
	}
	return t
}

// explainedBy reports whether edits that are reported already account for all
// that keeps the target from being a part of the head: without the entries
// that they changed, moved or lost, it is one. Then there is one writer, and
// the edits are the trouble.
func (t *divergence) explainedBy(explained map[small.Digest]bool, equal equivalence) bool {
	if len(explained) == 0 {
		return false
	}
	old := equal.classes(explained)
	var rest []small.Digest
	for _, e := range t.target.Entries {
		if !old[equal.class(e.Digest)] {
			rest = append(rest, e.Digest)
		}
	}
	target, head := equal.view(rest, digestsOf(t.head))
	return subsequence(target.digests, head.digests) != nil
}

// tipRelation is one direction of comparing two tips.
type tipRelation struct {
	relation relation
	inserted []int
	resolved bool
}

func (r tipRelation) fine() bool {
	return r.relation == identical || r.relation == extended || r.relation == interleaved && r.resolved
}

func relateWithin(p, c *small.Ledger, equal equivalence) tipRelation {
	if c.Extends(p) {
		return tipRelation{relation: extended}
	}
	pd, cd := equal.view(digestsOf(p), digestsOf(c))
	r := tipRelation{relation: relate(pd.digests, cd.digests)}
	if r.relation == interleaved {
		places := subsequence(pd.digests, cd.digests)
		r.resolved = resolvedBy(p, c, cd.places[places[len(places)-1]]) >= 0
		r.inserted = cd.at(missing(places))
	}
	return r
}

// only lists the entries of a that b lacks, waivers applied.
func only(a, b *small.Ledger, equal equivalence) []small.Entry {
	there := map[small.Digest]int{}
	for _, e := range b.Entries {
		there[equal.class(e.Digest)]++
	}
	var out []small.Entry
	for _, e := range a.Entries {
		class := equal.class(e.Digest)
		if there[class] > 0 {
			there[class]--
			continue
		}
		if !equal.dropped[e.Digest] && !equal.past[e.Digest] {
			out = append(out, e)
		}
	}
	return out
}

// withoutEdited reports whether two tips are one writer's work but for the
// edits that are reported already, whichever side made them: without the entries
// that were changed, moved, lost or put in between, one holds the other.
func (t *divergence) withoutEdited(explained map[small.Digest]bool, equal equivalence) bool {
	if len(explained) == 0 {
		return false
	}
	edited := equal.classes(explained)
	rest := func(l *small.Ledger) []small.Digest {
		return slices.DeleteFunc(digestsOf(l), func(d small.Digest) bool { return edited[equal.class(d)] })
	}
	target, head := rest(t.target), rest(t.head)
	a, b := equal.view(target, head)
	there := relate(a.digests, b.digests)
	a, b = equal.view(head, target)
	back := relate(a.digests, b.digests)
	return there == identical || there == extended || back == extended
}
