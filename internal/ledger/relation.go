package ledger

import (
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// NotIn lists the entries that base does not have, not even once.
func NotIn(entries []Entry, base *Ledger) []Entry {
	set := DigestSet(base)
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return set[e.Digest] })
}

// relation tells how a parent log became a child.
type relation int

// The relations.
const (
	identical   relation = iota // the same entries
	Extended                    // the parent is a proper prefix of the child
	Interleaved                 // the parent is a subsequence but not a prefix
	Rewritten                   // an entry is missing, or the order differs
)

// relateDigests tells how p became c. If p is a subsequence of c, it also returns the indexes in c of p's elements.
func relateDigests(p, c []small.Digest) (relation, []int) {
	indexes := Subsequence(p, c)
	switch {
	case slices.Equal(p, c):
		return identical, indexes
	case len(p) < len(c) && slices.Equal(p, c[:len(p)]):
		return Extended, indexes
	case indexes != nil:
		return Interleaved, indexes
	}
	return Rewritten, nil
}

// findInsertions returns the indexes in c of new entries before older ones, and the index of the entry that makes them explicit, -1 if there
// is none. indexes are those of p's entries in child.
func findInsertions(p, c *Ledger, child sequence, indexes []int) (inserted []int, reconcileEntry int) {
	return child.toLedgerIndexes(gaps(indexes)), findReconcileEntry(p, c, child.indexes[indexes[len(indexes)-1]])
}

// Subsequence returns, for each element of p, its earliest index in c; nil if p is not a subsequence of c.
func Subsequence(p, c []small.Digest) []int {
	indexes := make([]int, 0, len(p))
	for i, d := range c {
		if len(indexes) < len(p) && p[len(indexes)] == d {
			indexes = append(indexes, i)
		}
	}
	if len(indexes) < len(p) {
		return nil
	}
	return indexes
}

// DigestsOf lists a ledger's entry digests.
func DigestsOf(l *Ledger) []small.Digest {
	out := make([]small.Digest, l.Len())
	for i, e := range l.Entries {
		out[i] = e.Digest
	}
	return out
}

// DigestSet returns the set of a ledger's entry digests.
func DigestSet(l *Ledger) map[small.Digest]bool {
	out := make(map[small.Digest]bool, l.Len())
	for i := range l.Entries {
		out[l.Entries[i].Digest] = true
	}
	return out
}

// findReconcileEntry returns the index in c of an entry that makes insertions explicit: a meta/reconcile-merge entry with evidence that p
// lacks and that comes after the index of p's last entry. It returns -1 if there is none.
func findReconcileEntry(p, c *Ledger, after int) int {
	for i := c.Len() - 1; i > after; i-- {
		e := c.Entries[i]
		if !e.Reconciles || !e.Evidenced {
			continue
		}
		inParent := slices.ContainsFunc(p.Entries, func(o Entry) bool { return o.Digest == e.Digest })
		if !inParent {
			return i
		}
	}
	return -1
}
