package ledger

import (
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// Rotation says how the entries of a log went to another log, the archive (docs/logs.md, "What is out of reach").
type Rotation struct {
	// Gone are the log's entries that the archive has gained, as the archive has them: a waiver may let an entry become another. Rest are the log's
	// entries that the archive has not gained. There is a Rest only if the versions after the rotation combine several sides.
	Gone, Rest []Entry
	// ReplacesArchive is true if the archive no longer has its own earlier entries. The archive must then have been rotated itself.
	ReplacesArchive bool
}

// RotationOptions are the options of FindRotation.
type RotationOptions struct {
	// Equal says which entries count as equal, which may be missing and which do not count.
	Equal Equivalence
	// Combines is true if the versions after the rotation may combine what several sides recorded, as a merge does.
	Combines bool
	// Unordered is true if the entries have no order.
	Unordered bool
}

// FindRotation splits the entries of a log into those that an archive gained and the others. had is what the archive had, or nil; has is what it has
// now. It returns nil if this is no rotation. In a rotation, the archive keeps what it had and gains all of the log in one piece. Other new entries may
// stand before and after that piece: a squash has what a branch recorded in the archive earlier, and what a second rotation brought.
//
// If the versions combine several sides, it is enough that the archive gained the log's beginning. What a side appended to the log meanwhile may then
// be further on in the archive, or still in the log. If the entries have no order, those that were gained may stand anywhere.
//
// An archive may have been rotated itself: if it has lost entries, and nothing else is found, all that it has now counts as gained.
func FindRotation(log, had, has *Ledger, options RotationOptions) *Rotation {
	gained, keeps := has.Entries, true
	if had != nil {
		gained = Only(has, had, Equivalence{})
		keeps = Relate(had, has, options.Equal).Allowed()
		if options.Unordered {
			keeps = len(Only(had, has, options.Equal)) == 0
		}
	}
	if options.Combines || keeps {
		if r := splitByGained(log, gained, options); r != nil {
			return r
		}
	}
	if had == nil || has.HasAll(had) {
		return nil
	}
	r := splitByGained(log, has.Entries, options)
	if r != nil {
		r.ReplacesArchive = true
	}
	return r
}

// splitByGained is FindRotation for what an archive gained.
func splitByGained(log *Ledger, gained []Entry, options RotationOptions) *Rotation {
	p := pairWithGained(log, gained, options.Equal)
	r, n, next := &Rotation{}, 0, 0
	if !options.Unordered {
		var at int
		if n, at = p.longestBeginning(); n == 0 || !options.Combines && n < len(p.old.indexes) {
			return nil
		}
		r.Gone, next = p.piece(at, n), at+n
	}
	further := map[small.Digest][]int{} // the gained elements from next on that no entry of the log became yet, by class
	for k := next; k < len(p.now.indexes); k++ {
		further[p.now.digests[k]] = append(further[p.now.digests[k]], k)
	}
	for i := n; i < len(p.old.indexes); i++ {
		candidates := further[p.old.digests[i]]
		for !options.Unordered && len(candidates) > 0 && candidates[0] < next {
			candidates = candidates[1:]
		}
		found := slices.IndexFunc(candidates, func(k int) bool { return p.became(i, k) })
		if found < 0 {
			further[p.old.digests[i]] = candidates
			r.Rest = append(r.Rest, p.log.Entries[p.old.indexes[i]])
			continue
		}
		next = candidates[found] + 1
		r.Gone = append(r.Gone, gained[p.now.indexes[candidates[found]]])
		if options.Unordered {
			candidates[found], found = candidates[0], 0
		}
		further[p.old.digests[i]] = candidates[found+1:]
	}
	if len(r.Gone) == 0 || !options.Combines && len(r.Rest) > 0 {
		return nil
	}
	return r
}

// gainedPair compares a log with the entries that an archive gained. An accepted entry counts if both have it. The others are left out of the
// comparison, and stay with the entry that follows them in the archive.
type gainedPair struct {
	log    *Ledger
	gained []Entry
	equal  Equivalence
	// old are the log's elements that are compared, now the archive's.
	old, now sequence
}

func pairWithGained(log *Ledger, gained []Entry, equal Equivalence) *gainedPair {
	archive := OfEntries(gained)
	p := &gainedPair{log: equal.ApplyRewrite(log, archive), gained: gained, equal: equal}
	if equal.Accepted != nil {
		inLog, inArchive := DigestSet(p.log), DigestSet(archive)
		p.equal.Accepted = maps.Clone(equal.Accepted)
		maps.DeleteFunc(p.equal.Accepted, func(d small.Digest, _ bool) bool { return inLog[d] && inArchive[d] })
	}
	p.old, p.now = p.equal.normalize(DigestsOf(p.log), DigestsOf(archive))
	return p
}

// became reports whether element i of the log may have become element k of the archive: they are equal, or a waiver lets the one become the other.
func (p *gainedPair) became(i, k int) bool {
	from, to := p.log.Entries[p.old.indexes[i]].Digest, p.gained[p.now.indexes[k]].Digest
	return from == to || p.old.digests[i] == p.now.digests[k] && p.equal.AllowsTransition(from, to)
}

// longestBeginning finds the longest beginning of the log that is in one piece among the gained elements: its length, and where it is.
func (p *gainedPair) longestBeginning() (n, at int) {
	for k, most := range beginningsIn(p.old.digests, p.now.digests) {
		if most <= n {
			continue
		}
		i := 0
		for i < most && p.became(i, k+i) {
			i++
		}
		if i > n {
			n, at = i, k
		}
	}
	return n, at
}

// beginningsIn returns, for each index in c, how many elements from there on are the first ones of p (the Z algorithm, O(n)).
func beginningsIn(p, c []small.Digest) []int {
	all := slices.Concat(p, c)
	lengths := make([]int, len(all))
	from, to := 0, 0 // all[from:to] is the piece that reaches furthest of those that equal a beginning of all
	for i := 1; i < len(all); i++ {
		n := 0
		if i < to {
			n = min(to-i, lengths[i-from])
		}
		for i+n < len(all) && all[n] == all[i+n] {
			n++
		}
		if lengths[i] = n; i+n > to {
			from, to = i, i+n
		}
	}
	lengths = lengths[len(p):]
	for k := range lengths {
		lengths[k] = min(lengths[k], len(p))
	}
	return lengths
}

// piece returns n elements of the archive from at on, with the accepted entries between them and directly before them.
func (p *gainedPair) piece(at, n int) []Entry {
	first, last := p.now.indexes[at], p.now.indexes[at+n-1]
	for first > 0 && p.equal.Accepted[p.gained[first-1].Digest] {
		first--
	}
	return slices.Clone(p.gained[first : last+1])
}
