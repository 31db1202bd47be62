package gate

import (
	"maps"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// equivalence is what waivers say about one log: pairs of entries that count
// as equal in every comparison, and entries that may be missing.
type equivalence struct {
	// edits maps an entry to the versions that waivers let it be changed into.
	edits map[small.Digest][]small.Digest
	// same maps an entry to the one that stands for its class.
	same map[small.Digest]small.Digest
	// dropped are entries whose deletion is waived.
	dropped map[small.Digest]bool
	// past are entries that count on neither side: a baseline accepts what became
	// of them.
	past map[small.Digest]bool
}

// equivalenceFor gathers the waivers of one log, whatever its path is and was,
// that hold at now.
func equivalenceFor(p *policy.Policy, now time.Time, paths ...string) equivalence {
	var eq equivalence
	for _, w := range p.Waivers {
		if !slices.Contains(paths, w.Path) || w.From == nil || w.Expired(now) {
			continue
		}
		switch {
		case w.Edit.Has(ledger.EntryChanged) && w.To != nil:
			if eq.same == nil {
				eq.same = map[small.Digest]small.Digest{}
				eq.edits = map[small.Digest][]small.Digest{}
			}
			eq.edits[*w.From] = append(eq.edits[*w.From], *w.To)
			from, to := eq.class(*w.From), eq.class(*w.To)
			if from != to {
				eq.same[from] = to
			}
		case w.Edit.Has(ledger.EntryLost) && w.To == nil:
			if eq.dropped == nil {
				eq.dropped = map[small.Digest]bool{}
			}
			eq.dropped[*w.From] = true
		}
	}
	for grown := eq.dropped != nil; grown; { // what may become what may be missing
		grown = false
		for from, versions := range eq.edits {
			if !eq.dropped[from] && slices.ContainsFunc(versions, func(d small.Digest) bool { return eq.dropped[d] }) {
				eq.dropped[from], grown = true, true
			}
		}
	}
	return eq
}

// class returns the entry that stands for all that count as equal to d.
func (eq equivalence) class(d small.Digest) small.Digest {
	for {
		next, ok := eq.same[d]
		if !ok {
			return d
		}
		d = next
	}
}

// classes returns the entries that stand for some.
func (eq equivalence) classes(entries map[small.Digest]bool) map[small.Digest]bool {
	out := make(map[small.Digest]bool, len(entries))
	for d := range entries {
		out[eq.class(d)] = true
	}
	return out
}

// leads reports whether waivers, one after the other, let the version from be
// changed into the version to. Both are of one class; that alone does not say
// which of them is the later one.
func (eq equivalence) leads(from, to small.Digest) bool {
	seen := map[small.Digest]bool{from: true}
	for next := []small.Digest{from}; len(next) > 0; next = next[1:] {
		if next[0] == to {
			return true
		}
		for _, d := range eq.edits[next[0]] {
			if !seen[d] {
				seen[d] = true
				next = append(next, d)
			}
		}
	}
	return false
}

// without leaves entries out of both sides.
func (eq equivalence) without(entries map[small.Digest]bool) equivalence {
	all := maps.Clone(entries)
	maps.Copy(all, eq.past)
	eq.past = all
	return eq
}

// sequence is a ledger as it is compared: classes instead of digests, some
// entries left out.
type sequence struct {
	digests []small.Digest
	// places are the indexes in the ledger.
	places []int
	// dropped are the indexes that are left out.
	dropped []int
}

// view returns a parent's and a child's digests as they are compared: every
// digest replaced by its class, the past left out, and the parent's entries that
// the child lacks and may lack.
func (eq equivalence) view(p, c []small.Digest) (parent, child sequence) {
	there := make(map[small.Digest]bool, len(c))
	for i, d := range c {
		if eq.past[d] {
			continue
		}
		d = eq.class(d)
		there[d] = true
		child.digests = append(child.digests, d)
		child.places = append(child.places, i)
	}
	for i, d := range p {
		if eq.past[d] {
			continue
		}
		class := eq.class(d)
		if eq.dropped[d] && !there[class] {
			parent.dropped = append(parent.dropped, i)
			continue
		}
		parent.digests = append(parent.digests, class)
		parent.places = append(parent.places, i)
	}
	return parent, child
}

// at gives the indexes in the ledger of some elements.
func (s sequence) at(elements []int) []int {
	for i, n := range elements {
		elements[i] = s.places[n]
	}
	return elements
}

// records gives the full entries of a sequence.
func (s sequence) records(all recordsFunc) recordsFunc {
	return func() ([]*small.Value, error) {
		values, err := all()
		if err != nil {
			return nil, err
		}
		out := make([]*small.Value, len(s.places))
		for i, place := range s.places {
			out[i] = values[place]
		}
		return out, nil
	}
}
