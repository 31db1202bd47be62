package ledger

import (
	"slices"
	"sort"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// Duplicates pairs entries of two sides, of which neither has the other's, that say the same at two times. Bookkeeping is left out.
func Duplicates(ours, theirs []Entry, ourRecords, theirRecords RecordsFunc) ([][2]Entry, error) {
	sums := map[uint64]bool{}
	for _, e := range ours {
		sums[e.Sum] = !strings.HasPrefix(e.TaskID, MetaPrefix)
	}
	likely := func(e Entry) bool { return sums[e.Sum] }
	if !slices.ContainsFunc(theirs, likely) {
		return nil, nil // mostly so, and nothing has to be read again
	}
	old, err := ourRecords()
	if err != nil {
		return nil, err
	}
	records, err := theirRecords()
	if err != nil {
		return nil, err
	}
	content, same := Without("timestamp"), map[string][]Entry{}
	for _, e := range ours {
		if likely(e) {
			key := content(old[e.Index])
			same[key] = append(same[key], e)
		}
	}
	var out [][2]Entry
	for _, e := range theirs {
		if !likely(e) {
			continue
		}
		key := content(records[e.Index])
		if of := same[key]; len(of) > 0 {
			out, same[key] = append(out, [2]Entry{of[0], e}), of[1:]
		}
	}
	return out, nil
}

// Parted lists the entries of either of two ledgers that the other lacks.
func Parted(ours, theirs *Ledger) (own, others []Entry) {
	common := sort.Search(min(ours.Len(), theirs.Len()), func(n int) bool { return ours.heads[n] != theirs.heads[n] })
	a, b := ours.Entries[common:], theirs.Entries[common:]
	if len(a) == 0 || len(b) == 0 {
		return nil, nil // one goes on from the other
	}
	return lacking(a, b), lacking(b, a)
}

// lacking leaves out of some entries those that others have.
func lacking(entries, others []Entry) []Entry {
	there := map[small.Digest]bool{}
	for _, e := range others {
		there[e.Digest] = true
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return there[e.Digest] })
}
