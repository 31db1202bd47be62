package ledger

import (
	"bytes"
	"slices"
	"sync"

	"github.com/small-gate/small-gate/internal/small"
)

// Rewrite is the approval of one rewrite of a log as a whole, from one ledger head to another (docs/logs.md, "A rewrite as a whole").
type Rewrite struct {
	From, To small.Digest
	// Unordered is true for a log whose entries have no order. From and To are then heads of sets; see [Ledger.SetHead].
	Unordered bool
	// ComparesPart is true for a log whose entries may change in what is not compared: a version with the entries of From, or of To, may have
	// another head.
	ComparesPart bool
	// Before and After are the entries of From and To, as far as a version of the log with exactly these was found.
	Before, After []Entry
}

// SetHead is the head of the entries sorted by digest: equal for two logs that have the same entries in any order.
func (l *Ledger) SetHead() small.Digest {
	return setHead(l.Entries)
}

func setHead(entries []Entry) small.Digest {
	digests := make([]small.Digest, len(entries))
	for i := range entries {
		digests[i] = entries[i].wholeDigest()
	}
	slices.SortFunc(digests, func(a, b small.Digest) int { return bytes.Compare(a[:], b[:]) })
	return HeadOf(digests)
}

// lenWithHead is the number of leading entries with a head; ok is false if no beginning of the log has it.
func (l *Ledger) lenWithHead(head small.Digest) (n int, ok bool) {
	if head == emptyHead {
		return 0, true
	}
	n = slices.Index(l.heads, head) + 1
	return n, n > 0
}

// EntriesWithHead returns the entries of a log that a head is of: its first ones, or, if Unordered, all.
func (r *Rewrite) EntriesWithHead(l *Ledger, head small.Digest) (entries []Entry, ok bool) {
	if r.Unordered {
		return l.Entries, l.SetHead() == head
	}
	n, ok := l.lenWithHead(head)
	return l.Entries[:n], ok
}

// HasBefore reports whether a log has all that the rewrite started from, followed by anything.
func (r *Rewrite) HasBefore(l *Ledger) bool {
	if r.Unordered {
		return l.SetHead() == r.From || r.Before != nil && containsAll(l.Entries, r.Before)
	}
	_, ok := l.matchBeginning(r.From, r.Before)
	return ok
}

// matchBeginning returns how many leading entries of a log a head is of, or are equal to some entries, of which the head is if they are known.
func (l *Ledger) matchBeginning(head small.Digest, known []Entry) (n int, ok bool) {
	if n, ok = l.lenWithHead(head); ok || known == nil || len(known) > l.Len() {
		return n, ok
	}
	same := func(a, b Entry) bool { return a.Digest == b.Digest }
	return len(known), slices.EqualFunc(known, l.Entries[:len(known)], same)
}

// DoneIn reports whether a log has what the rewrite led to, followed by anything. Of a log whose entries have no order, it is enough that
// something which the rewrite started from is gone: what is gone, and is not approved, was found on an edge.
func (r *Rewrite) DoneIn(l *Ledger) bool {
	if r.HasBefore(l) {
		return false
	}
	if r.Unordered {
		return r.Before != nil
	}
	_, ok := l.matchBeginning(r.To, r.After)
	return ok
}

// withBeforeFrom is the rewrite with the entries that it started from, if a log has exactly these, and they were not known.
func (r *Rewrite) withBeforeFrom(p *Ledger) *Rewrite {
	if !r.ComparesPart || r.Before != nil {
		return r
	}
	entries, ok := r.EntriesWithHead(p, r.From)
	if !ok {
		return r
	}
	known := *r
	known.Before = slices.Clip(entries)
	return &known
}

// rewrittenLog is a log as approvals let it become.
type rewrittenLog struct {
	*Ledger
	// origin is the index of each entry in the old log or, if it is negative, the complement of the index in the new one.
	origin []int
	by     *Rewrite
}

// findRewritten is p as an approval lets it become: what the rewrite led to, which c has, and then what p has besides. It is nil if no approval
// applies.
func (eq Equivalence) findRewritten(p, c *Ledger) *rewrittenLog {
	for _, r := range eq.Rewrites {
		if r = r.withBeforeFrom(p); r.HasBefore(c) {
			continue
		}
		now, rest, ok := eq.splitByRewrite(r, p, c)
		if !ok {
			continue
		}
		out := &rewrittenLog{by: r}
		var entries []Entry
		for _, i := range now {
			entries, out.origin = append(entries, c.Entries[i]), append(out.origin, ^i)
		}
		for _, i := range rest {
			entries, out.origin = append(entries, p.Entries[i]), append(out.origin, i)
		}
		out.Ledger = OfEntries(entries)
		return out
	}
	return nil
}

// records gives the entries in full, from those of the old and the new log.
func (x *rewrittenLog) records(old, now RecordsFunc) RecordsFunc {
	return sync.OnceValues(func() ([]*small.Value, error) {
		before, err := old()
		if err != nil {
			return nil, err
		}
		after, err := now()
		if err != nil {
			return nil, err
		}
		out := make([]*small.Value, len(x.origin))
		for i, at := range x.origin {
			if at < 0 {
				out[i] = after[^at]
			} else {
				out[i] = before[at]
			}
		}
		return out, nil
	})
}

// ApplyRewrite is p as an approval lets it become, if c has taken that rewrite over; else p.
func (eq Equivalence) ApplyRewrite(p, c *Ledger) *Ledger {
	if x := eq.findRewritten(p, c); x != nil {
		return x.Ledger
	}
	return p
}

// splitByRewrite returns the indexes in c of what a rewrite led to, and those in p of what the rewrite, and those that came before it, are not about.
// If eq.Older, p may also be a log from before it had all that the rewrite started from.
func (eq Equivalence) splitByRewrite(r *Rewrite, p, c *Ledger) (now, rest []int, ok bool) {
	switch {
	case r.HasBefore(p):
		rest = r.unaffected(p)
	case !eq.Older || r.Before == nil || r.Unordered && r.After == nil || r.hasAfter(p):
		return nil, nil, false
	default:
		rest = eq.unaffectedByChain(r, p)
	}
	if !r.Unordered {
		n, has := c.matchBeginning(r.To, r.After)
		return indexesBelow(n), rest, has
	}
	own, was := pickEntries(p.Entries, rest), pickEntries(p.Entries, otherIndexes(p.Entries, rest))
	if r.After != nil && containsAll(c.Entries, r.After) {
		return otherIndexes(c.Entries, unmatched(c.Entries, r.After)), rest, true
	}
	for _, now := range [][]int{unmatched(c.Entries, own), otherIndexes(c.Entries, unmatched(c.Entries, was))} {
		if setHead(pickEntries(c.Entries, now)) == r.To {
			return now, rest, true
		}
	}
	return nil, nil, false
}

// unaffectedByChain are the indexes in a log, which lacks some of what a rewrite started from, of the entries that neither this rewrite is about nor
// those before it that the log does not have behind it either.
func (eq Equivalence) unaffectedByChain(r *Rewrite, p *Ledger) []int {
	chain := eq.chainBack(r)
	n := 1
	for n < len(chain) && chain[n].Before != nil && !chain[n].hasAfter(p) {
		n++
	}
	first := chain[n-1]
	rest := unmatched(p.Entries, first.Before)
	if first.HasBefore(p) {
		rest = first.unaffected(p)
	}
	for ; n > 1; n-- {
		own := chain[n-2].Before
		if _, added := chain[n-1].matchAfter(own); len(added) > 0 {
			left := unmatched(pickEntries(p.Entries, rest), pickEntries(own, added))
			for i, at := range left {
				left[i] = rest[at]
			}
			rest = left
		}
	}
	return rest
}

// chainBack is a rewrite, the one before it, the one before that, and so on, as far as they are known. A rewrite came after another if it started
// from what that had led to, perhaps with new entries.
func (eq Equivalence) chainBack(r *Rewrite) []*Rewrite {
	chain := []*Rewrite{r}
	for {
		earlier := eq.Previous(chain[len(chain)-1])
		if earlier == nil || slices.Contains(chain, earlier) {
			return chain
		}
		chain = append(chain, earlier)
	}
}

// Previous is the last rewrite that came before one; nil if none is known.
func (eq Equivalence) Previous(r *Rewrite) *Rewrite {
	var found *Rewrite
	most := -1
	for _, x := range eq.Rewrites {
		if x == r {
			continue
		}
		n, _ := x.matchAfter(r.Before)
		if back, _ := r.matchAfter(x.Before); n > most && back < 0 {
			found, most = x, n
		}
	}
	return found
}

// matchAfter returns the number of some entries that a rewrite led to, and the indexes of the others; -1 if it did not lead to these.
func (r *Rewrite) matchAfter(entries []Entry) (n int, others []int) {
	switch {
	case entries == nil || r.Unordered && (r.After == nil || !containsAll(entries, r.After)):
		return -1, nil
	case r.Unordered:
		return len(r.After), unmatched(entries, r.After)
	}
	n, ok := OfEntries(entries).matchBeginning(r.To, r.After)
	if !ok {
		return -1, nil
	}
	return n, indexesBelow(len(entries))[n:]
}

// DoneOrFollowed reports whether a log has a rewrite, or one that came after it, behind it; see [Rewrite.DoneIn].
func (eq Equivalence) DoneOrFollowed(r *Rewrite, l *Ledger) bool {
	return r.DoneIn(l) || !r.Unordered && !r.HasBefore(l) && slices.ContainsFunc(eq.Rewrites, func(x *Rewrite) bool {
		return x != r && x.DoneIn(l) && slices.Contains(eq.chainBack(x), r)
	})
}

// hasAfter reports whether a log has what the rewrite led to.
func (r *Rewrite) hasAfter(l *Ledger) bool {
	if r.Unordered {
		return containsAll(l.Entries, r.After)
	}
	_, ok := l.matchBeginning(r.To, r.After)
	return ok
}

// unaffected are the indexes in a log, which has all that the rewrite started from, of its other entries.
func (r *Rewrite) unaffected(p *Ledger) []int {
	if r.Unordered {
		if p.SetHead() == r.From {
			return nil
		}
		return unmatched(p.Entries, r.Before)
	}
	n, _ := p.matchBeginning(r.From, r.Before)
	return indexesBelow(p.Len())[n:]
}

func indexesBelow(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// unmatched are the indexes of entries that some others do not account for, each of which accounts for one.
func unmatched(entries, others []Entry) []int {
	left := map[small.Digest]int{}
	for i := range others {
		left[others[i].Digest]++
	}
	var out []int
	for i := range entries {
		if d := entries[i].Digest; left[d] > 0 {
			left[d]--
		} else {
			out = append(out, i)
		}
	}
	return out
}

// otherIndexes are the indexes of entries that are not in a rising list of indexes.
func otherIndexes(entries []Entry, but []int) []int {
	var out []int
	for i := range entries {
		if len(but) > 0 && but[0] == i {
			but = but[1:]
		} else {
			out = append(out, i)
		}
	}
	return out
}

func pickEntries(entries []Entry, indexes []int) []Entry {
	out := make([]Entry, len(indexes))
	for i, at := range indexes {
		out[i] = entries[at]
	}
	return out
}

// containsAll reports whether some entries are all among others, as often.
func containsAll(entries, some []Entry) bool {
	return len(entries)-len(unmatched(entries, some)) == len(some)
}

// Gained are the entries of a log, in their order, for which another does not account.
func Gained(old, now *Ledger) []Entry {
	return pickEntries(now.Entries, unmatched(now.Entries, old.Entries))
}

// Returned finds, in a log, entries that a rewrite removed and that none of some other logs has. Each of the others has the rewrite behind it,
// or is a log without what the rewrite started from.
func (r *Rewrite) Returned(l *Ledger, others []*Ledger) []Entry {
	if r.Before == nil {
		return nil
	}
	was, most, now := map[small.Digest]int{}, map[small.Digest]int{}, map[small.Digest]int{}
	for i := range r.Before {
		was[r.Before[i].Digest]++
	}
	for _, o := range others {
		here := map[small.Digest]int{}
		for i := range o.Entries {
			d := o.Entries[i].Digest
			here[d]++
			most[d] = max(most[d], here[d])
		}
	}
	var out []Entry
	for i := range l.Entries {
		d := l.Entries[i].Digest
		now[d]++
		if now[d] > most[d] && now[d] <= was[d] {
			out = append(out, l.Entries[i])
		}
	}
	return out
}

// WithoutBefore is a log without what the rewrite started from.
func (r *Rewrite) WithoutBefore(l *Ledger) *Ledger {
	return OfEntries(pickEntries(l.Entries, unmatched(l.Entries, r.Before)))
}
