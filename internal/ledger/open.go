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
	words, became, taken := wordLists{}, map[int]int{}, map[int]bool{}
	for _, alike := range []func(old Edit, now int) bool{
		func(x Edit, now int) bool { return e.Old.Entries[x.OldIndex].Digest == open.Entries[now].Digest },
		func(x Edit, now int) bool {
			return open.Entries[now].Noun == File || words.shareHalf(old[x.OldIndex], open.Values[now])
		},
	} {
		for _, x := range lost {
			for now := range open.Entries {
				if _, paired := became[x.OldIndex]; !paired && !taken[now] && alike(x, now) {
					became[x.OldIndex], taken[now] = now, true
				}
			}
		}
	}
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
