package ledger

import (
	"bytes"
	"slices"
	"sync"

	"github.com/small-gate/small-gate/internal/small"
)

// Rewrite is the approval to rewrite a whole log, from one ledger head to another (docs/logs.md, "A rewrite as a whole").
type Rewrite struct {
	From, To small.Digest
	// Unordered is true for a log whose entries have no order. From and To are then heads as [Ledger.SetHead] computes them.
	Unordered bool
	// ComparesPart is true for a log that compares only part of each entry. Heads cover all of it, so two versions with equal entries may
	// have different heads.
	ComparesPart bool
	// Before and After are the entries at From and To; nil as long as no version of the log with this head was found. Of an empty log, After is empty
	// and not nil.
	Before, After []Entry
}

// NewRewrite makes the approval to rewrite a whole log from one head to another. For unordered and comparesPart see Rewrite.
func NewRewrite(from, to small.Digest, unordered, comparesPart bool) *Rewrite {
	r := &Rewrite{From: from, To: to, Unordered: unordered, ComparesPart: comparesPart}
	if to == emptyHead {
		r.After = []Entry{}
	}
	return r
}

// SetHead returns the head of the entries sorted by digest: two logs with the same entries in any order have the same.
func (l *Ledger) SetHead() small.Digest {
	return setHead(l.Entries)
}

func setHead(entries []Entry) small.Digest {
	digests := make([]small.Digest, len(entries))
	for i := range entries {
		digests[i] = entries[i].WholeDigest()
	}
	slices.SortFunc(digests, func(a, b small.Digest) int { return bytes.Compare(a[:], b[:]) })
	return HeadOf(digests)
}

// lenWithHead returns how many leading entries have this head; ok is false if no beginning of the log has it.
func (l *Ledger) lenWithHead(head small.Digest) (n int, ok bool) {
	if head == emptyHead {
		return 0, true
	}
	n = slices.Index(l.heads, head) + 1
	return n, n > 0
}

// EntriesWithHead returns the entries of l that have this head: its first ones or, if Unordered, all.
func (r *Rewrite) EntriesWithHead(l *Ledger, head small.Digest) (entries []Entry, ok bool) {
	if r.Unordered {
		return l.Entries, l.SetHead() == head
	}
	n, ok := l.lenWithHead(head)
	return l.Entries[:n], ok
}

// HasBefore reports whether l has all that the rewrite started from, perhaps with more entries. Such a log has not done the rewrite, or has
// undone it.
func (r *Rewrite) HasBefore(l *Ledger) bool {
	if r.Unordered {
		return l.SetHead() == r.From || r.Before != nil && containsAll(l.Entries, r.Before)
	}
	_, ok := l.matchBeginning(r.From, r.Before)
	return ok
}

// matchBeginning returns how many leading entries of l have this head or, if no beginning has it, equal the known entries at this head.
func (l *Ledger) matchBeginning(head small.Digest, known []Entry) (n int, ok bool) {
	if n, ok = l.lenWithHead(head); ok || known == nil || len(known) > l.Len() {
		return n, ok
	}
	same := func(a, b Entry) bool { return a.Digest == b.Digest }
	return len(known), slices.EqualFunc(known, l.Entries[:len(known)], same)
}

// DoneIn reports whether l has what the rewrite led to, perhaps with more entries, but none that it removed: a log that has one may be older than
// the version that the rewrite started from. In an unordered log it is enough that an entry of Before is gone: each removal that is not approved is
// reported where it happened.
func (r *Rewrite) DoneIn(l *Ledger) bool {
	if r.HasBefore(l) {
		return false
	}
	if r.Unordered {
		return r.Before != nil && (r.After == nil || !hasRemoved(l.Entries, r.Before, r.After))
	}
	return r.hasOnlyAfter(l)
}

// hasOnlyAfter reports whether l has all that the rewrite led to, and nothing that it removed.
func (r *Rewrite) hasOnlyAfter(l *Ledger) bool {
	if r.Unordered {
		return containsAll(l.Entries, r.After) && !hasRemoved(l.Entries, r.Before, r.After)
	}
	n, ok := l.matchBeginning(r.To, r.After)
	return ok && !hasRemoved(l.Entries, r.Before, l.Entries[:n])
}

// hasAdded reports whether l has all that the rewrite led to, and that is more than the rewrite started from: then l is not older than the rewrite, even
// if it has an entry that the rewrite removed.
func (r *Rewrite) hasAdded(l *Ledger) bool {
	if r.Unordered {
		return !containsAll(r.Before, r.After) && containsAll(l.Entries, r.After)
	}
	n, ok := l.matchBeginning(r.To, r.After)
	return ok && !containsAll(r.Before, l.Entries[:n])
}

// hasRemoved reports whether entries has, besides all of after, an entry that the step from before to after removed.
func hasRemoved(entries, before, after []Entry) bool {
	removed := removedBy(before, after)
	return slices.ContainsFunc(unmatched(entries, after), func(i int) bool { return removed[entries[i].Digest] })
}

// removesNothing reports whether l lost nothing by a rewrite that removes entries: l begins with what the rewrite led to, and has in order all that the
// rewrite started from.
func (r *Rewrite) removesNothing(l *Ledger) bool {
	n, ok := l.matchBeginning(r.To, r.After)
	return ok && !r.Unordered && !containsAll(l.Entries[:n], r.Before) && Subsequence(DigestsOf(&Ledger{Entries: r.Before}), DigestsOf(l)) != nil
}

// withBeforeFrom returns r with Before taken from p, if p has the entries at From.
func (r *Rewrite) withBeforeFrom(p *Ledger) *Rewrite {
	if r.Before != nil {
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

// WithBeforeFrom returns eq with the Before of each rewrite taken from p, if p has the entries at From.
func (eq Equivalence) WithBeforeFrom(p *Ledger) Equivalence {
	rewrites := make([]*Rewrite, len(eq.Rewrites))
	for i, r := range eq.Rewrites {
		rewrites[i] = r.withBeforeFrom(p)
	}
	eq.Rewrites = rewrites
	return eq
}

// rewrittenLog is an old log to which an approved rewrite was applied.
type rewrittenLog struct {
	*Ledger
	// origin says where each entry is from: i stands for entry i of the old log, ^i for entry i of the new one.
	origin  []int
	rewrite *Rewrite
}

// findRewritten applies to p the first approved rewrite that c has done. The result has the entries of c that the rewrite led to, and then
// those of p that it does not affect. It is nil if no rewrite applies.
func (eq Equivalence) findRewritten(p, c *Ledger) *rewrittenLog {
	for _, r := range eq.Rewrites {
		if r = r.withBeforeFrom(p); r.HasBefore(c) || r.removesNothing(c) {
			continue
		}
		now, rest, ok := eq.splitByRewrite(r, p, c)
		if !ok {
			continue
		}
		out := &rewrittenLog{rewrite: r}
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

// records returns the entries in full, taken from those of the old and the new log.
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

// ApplyRewrite returns p with an approved rewrite applied, if c has done one; otherwise p.
func (eq Equivalence) ApplyRewrite(p, c *Ledger) *Ledger {
	if x := eq.findRewritten(p, c); x != nil {
		return x.Ledger
	}
	return p
}

// splitByRewrite returns the indexes in c of the entries that r led to, and the indexes in p of the entries that neither r nor the rewrites
// before it affect. ok is false if r does not apply. If eq.Older, p may lack entries that r started from. If eq.MayReturn, c may have entries that r removed.
func (eq Equivalence) splitByRewrite(r *Rewrite, p, c *Ledger) (now, rest []int, ok bool) {
	switch {
	case !eq.MayReturn && !r.DoneIn(c):
		return nil, nil, false
	case r.HasBefore(p):
		rest = r.unaffected(p)
	case !eq.Older || r.Before == nil || r.Unordered && r.After == nil || r.hasOnlyAfter(p) || r.hasAdded(p):
		return nil, nil, false
	default:
		rest = eq.unaffectedByChain(r, p)
	}
	if !r.Unordered {
		n, has := c.matchBeginning(r.To, r.After)
		return indexesBelow(n), leaveOutRewritten(p, rest, r.Before, c.Entries[:n]), has
	}
	if r.After != nil && containsAll(c.Entries, r.After) {
		return otherIndexes(c.Entries, unmatched(c.Entries, r.After)), leaveOutRewritten(p, rest, r.Before, r.After), true
	}
	// After is not known. Either r only removed entries, and c may have others; or c has the entries that r led to, the unaffected ones, and new ones
	// at the end or at the beginning of those that are not in p; a few may stand at both ends.
	unaffected, affected := pickEntries(p.Entries, rest), pickEntries(p.Entries, otherIndexes(p.Entries, rest))
	is := func(candidate []int) bool { return setHead(pickEntries(c.Entries, candidate)) == r.To }
	candidate := otherIndexes(c.Entries, unmatched(c.Entries, affected))
	if found := is(candidate); !found {
		if candidate, found = findWithoutNew(c, unmatched(c.Entries, unaffected), affected, is); !found {
			return nil, nil, false
		}
	}
	return candidate, leaveOutRewritten(p, rest, affected, pickEntries(c.Entries, candidate)), true
}

// findWithoutNew finds indexes that satisfy a test: all of them, or those without the first or the last whose entries are not in old. It leaves out
// entries of both ends only if they are few.
func findWithoutNew(c *Ledger, indexes []int, old []Entry, is func([]int) bool) ([]int, bool) {
	if is(indexes) {
		return indexes, true
	}
	all := pickEntries(c.Entries, indexes)
	isNew := unmatched(all, old)
	const mostRead = 1 << 20 // entries, in all tries
	for n := 1; n <= len(isNew) && 2*n*len(all) <= mostRead; n++ {
		step := 1
		if n > 8 {
			step = n
		}
		for first := 0; first <= n; first += step {
			candidate := otherIndexes(all, slices.Concat(isNew[:first], isNew[len(isNew)-n+first:]))
			for i, at := range candidate {
				candidate[i] = indexes[at]
			}
			if is(candidate) {
				return candidate, true
			}
		}
	}
	return nil, false
}

// unaffectedByChain returns the indexes of the entries in p that are affected neither by r nor by the rewrites before r that p has not done.
// p lacks some entries that r started from.
func (eq Equivalence) unaffectedByChain(r *Rewrite, p *Ledger) []int {
	chain := eq.chainBack(r)
	n := 1
	for n < len(chain) && chain[n].Before != nil && !chain[n].hasOnlyAfter(p) {
		n++
	}
	// first is the oldest rewrite that p has not done.
	first := chain[n-1]
	rest := unmatched(p.Entries, first.Before)
	if first.HasBefore(p) {
		rest = first.unaffected(p)
	}
	for ; n > 1; n-- {
		// The next rewrite also started from entries that were added after this one.
		next := chain[n-2].Before
		_, added := chain[n-1].matchAfter(next)
		rest = withoutEntries(p, rest, pickEntries(next, added))
		if after := chain[n-1].After; after != nil {
			rest = leaveOutRewritten(p, rest, chain[n-1].Before, after)
		}
	}
	return rest
}

// leaveOutRewritten leaves out of rest, indexes in p, what a rewrite from before to after also decided: entries equal to one that it removed, since nobody
// can tell them apart, and for each entry that it added one equal entry, which p has recorded itself.
func leaveOutRewritten(p *Ledger, rest []int, before, after []Entry) []int {
	removed := removedBy(before, after)
	rest = slices.DeleteFunc(slices.Clone(rest), func(i int) bool { return removed[p.Entries[i].Digest] })
	return withoutEntries(p, rest, pickEntries(after, unmatched(after, before)))
}

// removedBy returns the entries that a rewrite from before to after removed.
func removedBy(before, after []Entry) map[small.Digest]bool {
	return DigestSet(&Ledger{Entries: pickEntries(before, unmatched(before, after))})
}

// withoutEntries returns those of the indexes in p that remain if each of others cancels one equal entry.
func withoutEntries(p *Ledger, indexes []int, others []Entry) []int {
	left := unmatched(pickEntries(p.Entries, indexes), others)
	for i, at := range left {
		left[i] = indexes[at]
	}
	return left
}

// chainBack returns r, the rewrite before it, the one before that, and so on, as far as they are known. A rewrite comes after another if it
// started from the result of that one, perhaps with new entries.
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

// Previous returns the last rewrite before r; nil if none is known.
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

// matchAfter returns how many of the entries the rewrite led to, and the indexes of the others. n is -1 if they lack something that it led
// to, or that is not known.
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

// DoneOrFollowed reports whether l has done r or a rewrite that came after r; see [Rewrite.DoneIn].
func (eq Equivalence) DoneOrFollowed(r *Rewrite, l *Ledger) bool {
	return r.DoneIn(l) || !r.Unordered && !r.HasBefore(l) && slices.ContainsFunc(eq.Rewrites, func(x *Rewrite) bool {
		return x != r && x.DoneIn(l) && slices.Contains(eq.chainBack(x), r)
	})
}

// unaffected returns the indexes of the entries in p that the rewrite did not start from; p has all that it started from.
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

// unmatched returns the indexes of the entries that remain if each of the others cancels one equal entry.
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

// otherIndexes returns the indexes of entries that are not in but, whose indexes rise.
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

// containsAll reports whether entries has each of some as often as some has it.
func containsAll(entries, some []Entry) bool {
	return len(entries)-len(unmatched(entries, some)) == len(some)
}

// Returned lists the entries of l that the rewrite removed and that none of the others has. Each of the others has done the rewrite, or was
// stripped of the entries that the rewrite started from.
func (r *Rewrite) Returned(l *Ledger, others []*Ledger) []Entry {
	if r.Before == nil {
		return nil
	}
	before := map[small.Digest]int{}
	for i := range r.Before {
		before[r.Before[i].Digest]++
	}
	most, count := maxCounts(others), map[small.Digest]int{}
	var out []Entry
	for i := range l.Entries {
		d := l.Entries[i].Digest
		count[d]++
		if count[d] > most[d] && count[d] <= before[d] {
			out = append(out, l.Entries[i])
		}
	}
	return out
}

// WithoutBefore returns l without the entries that the rewrite started from.
func (r *Rewrite) WithoutBefore(l *Ledger) *Ledger {
	return OfEntries(pickEntries(l.Entries, unmatched(l.Entries, r.Before)))
}
