package ledger

import "github.com/small-gate/small-gate/internal/small"

// AddedCopies lists the entries of a child that repeat an earlier one, beyond the number that any parent has. first holds, for each copy,
// the first equal entry of the child.
func AddedCopies(parents []*Ledger, child *Ledger) (copies, first []Entry) {
	at := make(map[small.Digest]int, len(child.Entries))
	for i, e := range child.Entries {
		if _, known := at[e.Digest]; !known {
			at[e.Digest] = i
		}
	}
	if len(at) == len(child.Entries) {
		return nil, nil
	}
	most, count := maxCounts(parents), map[small.Digest]int{}
	for _, e := range child.Entries {
		count[e.Digest]++
		if count[e.Digest] > max(most[e.Digest], 1) {
			copies, first = append(copies, e), append(first, child.Entries[at[e.Digest]])
		}
	}
	return copies, first
}

// maxCounts returns, for each entry, how often the ledger that has it most often has it.
func maxCounts(ledgers []*Ledger) map[small.Digest]int {
	most := map[small.Digest]int{}
	for _, l := range ledgers {
		count := map[small.Digest]int{}
		for i := range l.Entries {
			d := l.Entries[i].Digest
			count[d]++
			most[d] = max(most[d], count[d])
		}
	}
	return most
}
