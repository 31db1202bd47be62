package ledger

import (
	"maps"

	"github.com/small-gate/small-gate/internal/small"
)

// Equivalence is what waivers, baselines and approvals say about one log: which entries count as equal, and which may be missing.
type Equivalence struct {
	// Edits maps an entry to the versions that waivers let it become.
	Edits map[small.Digest][]small.Digest
	// Same maps an entry to another one of its class. The last one so reached represents the class.
	Same map[small.Digest]small.Digest
	// Dropped are entries whose deletion is waived.
	Dropped map[small.Digest]bool
	// Accepted are the entries that neither side counts, because a baseline accepts what became of them.
	Accepted map[small.Digest]bool
	// Rewrites are the approved rewrites of whole logs. If Older, they also apply to a log that lacks entries that a rewrite started from:
	// to one side of a merge or to a branch's tip, but not to the parent of a commit with one parent.
	Rewrites []*Rewrite
	Older    bool
	// MayReturn is true if a rewrite also applies where the child has entries that it removed, because these are reported as returned.
	MayReturn bool
}

// Class returns the entry that represents all entries that count as equal to d.
func (eq Equivalence) Class(d small.Digest) small.Digest {
	for {
		next, ok := eq.Same[d]
		if !ok {
			return d
		}
		d = next
	}
}

func (eq Equivalence) classesOf(entries map[small.Digest]bool) map[small.Digest]bool {
	out := make(map[small.Digest]bool, len(entries))
	for d := range entries {
		out[eq.Class(d)] = true
	}
	return out
}

// AllowsTransition reports whether waivers, one after the other, let the version from become the version to. The class alone does not say
// which version is later.
func (eq Equivalence) AllowsTransition(from, to small.Digest) bool {
	seen := map[small.Digest]bool{from: true}
	for next := []small.Digest{from}; len(next) > 0; next = next[1:] {
		if next[0] == to {
			return true
		}
		for _, d := range eq.Edits[next[0]] {
			if !seen[d] {
				seen[d] = true
				next = append(next, d)
			}
		}
	}
	return false
}

// Accepting returns eq with further accepted entries.
func (eq Equivalence) Accepting(entries map[small.Digest]bool) Equivalence {
	all := maps.Clone(entries)
	maps.Copy(all, eq.Accepted)
	eq.Accepted = all
	return eq
}

// sequence is the part of a ledger that is compared: classes instead of digests, without accepted and dropped entries.
type sequence struct {
	digests []small.Digest
	// indexes are the indexes of the elements in the ledger.
	indexes []int
	// dropped are the indexes of the entries left out because a waiver lets them be missing.
	dropped []int
}

// normalize returns the parts of two ledgers that are compared. Both lose accepted entries; the parent also loses the entries that the child
// lacks and may lack.
func (eq Equivalence) normalize(p, c []small.Digest) (parent, child sequence) {
	there := make(map[small.Digest]bool, len(c))
	for i, d := range c {
		if eq.Accepted[d] {
			continue
		}
		d = eq.Class(d)
		there[d] = true
		child.digests = append(child.digests, d)
		child.indexes = append(child.indexes, i)
	}
	for i, d := range p {
		if eq.Accepted[d] {
			continue
		}
		class := eq.Class(d)
		if eq.Dropped[d] && !there[class] {
			parent.dropped = append(parent.dropped, i)
			continue
		}
		parent.digests = append(parent.digests, class)
		parent.indexes = append(parent.indexes, i)
	}
	return parent, child
}

// toLedgerIndexes replaces the numbers of elements, in place, by their indexes in the ledger.
func (s sequence) toLedgerIndexes(elements []int) []int {
	for i, n := range elements {
		elements[i] = s.indexes[n]
	}
	return elements
}

func (s sequence) records(all RecordsFunc) RecordsFunc {
	return func() ([]*small.Value, error) {
		values, err := all()
		if err != nil {
			return nil, err
		}
		out := make([]*small.Value, len(s.indexes))
		for i, index := range s.indexes {
			out[i] = values[index]
		}
		return out, nil
	}
}
