package ledger

import "github.com/small-gate/small-gate/internal/small"

// AddedCopies lists the entries of a child that repeat an earlier one, beyond the number that any parent has. first holds, for each copy,
// the first equal entry of the child.
func AddedCopies(parents []*Ledger, child *Ledger) (doubled, first []Entry) {
	at := make(map[small.Digest]int, len(child.Entries))
	for i, e := range child.Entries {
		if _, known := at[e.Digest]; !known {
			at[e.Digest] = i
		}
	}
	if len(at) == len(child.Entries) {
		return nil, nil
	}
	most := map[small.Digest]int{}
	for _, p := range parents {
		here := map[small.Digest]int{}
		for _, e := range p.Entries {
			here[e.Digest]++
			most[e.Digest] = max(most[e.Digest], here[e.Digest])
		}
	}
	count := map[small.Digest]int{}
	for _, e := range child.Entries {
		count[e.Digest]++
		if count[e.Digest] > max(most[e.Digest], 1) {
			doubled, first = append(doubled, e), append(first, child.Entries[at[e.Digest]])
		}
	}
	return doubled, first
}
