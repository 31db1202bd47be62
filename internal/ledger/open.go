package ledger

import (
	"maps"

	"github.com/small-gate/small-gate/internal/small"
)

// OpenEntries are the entries of a log that are not finished; Values are the same in full.
type OpenEntries struct {
	Entries []Entry
	Values  []*small.Value
}

// DropReopened lets the child lack the entries that waivers let become an open one, because open entries are not in its ledger.
func (eq Equivalence) DropReopened(open []Entry) Equivalence {
	dropped := maps.Clone(eq.Dropped)
	for from := range eq.Edits {
		for _, e := range open {
			if from != e.Digest && eq.AllowsTransition(from, e.Digest) {
				if dropped == nil {
					dropped = map[small.Digest]bool{}
				}
				dropped[from] = true
			}
		}
	}
	eq.Dropped = dropped
	return eq
}

// maxReopened bounds the comparisons of lost entries with open ones: each lost entry is compared with its share of them, or with maxCandidates if that
// is more. A version beyond that is reported as a deletion.
const maxReopened = 1 << 20

// pairReopened returns, by the index of a lost entry, the index of the open entry that it was set back to. old are the old ledger's entries in full.
func pairReopened(from *Ledger, lost []Edit, old []*small.Value, open OpenEntries) map[int]int {
	became, taken := map[int]int{}, make([]bool, len(open.Entries))
	equal := map[small.Digest][]int{}
	for now := range open.Entries {
		d := open.Entries[now].Digest
		equal[d] = append(equal[d], now)
	}
	for _, x := range lost {
		if d := from.Entries[x.OldIndex].Digest; len(equal[d]) > 0 {
			became[x.OldIndex], taken[equal[d][0]], equal[d] = equal[d][0], true, equal[d][1:]
		}
	}
	words, first, most := wordLists{}, 0, max(maxCandidates, maxReopened/len(lost))
	for _, x := range lost {
		if _, paired := became[x.OldIndex]; paired {
			continue
		}
		for first < len(taken) && taken[first] {
			first++
		}
		for now, tried := first, 0; now < len(taken) && tried < most; now++ {
			if taken[now] {
				continue
			}
			tried++
			if open.Entries[now].Noun == File || words.shareHalf(old[x.OldIndex], open.Values[now]) {
				became[x.OldIndex], taken[now] = now, true
				break
			}
		}
	}
	return became
}

// MarkReopened turns the deletion of an entry into a modification if the entry was set back to open. It was if an open entry equals it, is
// the same file, or shares half of its words with it.
func (e *Comparison) MarkReopened(open OpenEntries) error {
	lost := e.OfKind(EditDeleted)
	if len(lost) == 0 || len(open.Entries) == 0 {
		return nil
	}
	old, err := e.OldRecords()
	if err != nil {
		return err
	}
	became := pairReopened(e.Old, lost, old, open)
	for i, x := range e.Edits {
		now, reopened := became[x.OldIndex]
		if x.Kind != EditDeleted || !reopened {
			continue
		}
		e.Edits[i] = newModification(old[x.OldIndex], open.Values[now], x.OldIndex, -1, true)
		e.Edits[i].Waived, e.Edits[i].Reopened = x.Waived, &open.Entries[now]
		if e.Edits[i].Pos.Line == 0 {
			e.Edits[i].Pos = open.Entries[now].Pos
		}
	}
	return nil
}
