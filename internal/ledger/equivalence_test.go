package ledger

import (
	"testing"

	"github.com/small-gate/small-gate/internal/small"
)

// A waiver lets an entry become what another entry is already, as if two lines are redacted to one word. It does not let it change back.
func TestCompareWaivedIntoEqual(t *testing.T) {
	log := func(text string) *Ledger {
		l, _ := new(Form).Read([]byte(text))
		return l.Ledger
	}
	from, to := log("a\n").Entries[0].Digest, log("b\n").Entries[0].Digest
	equal := Equivalence{Same: map[small.Digest]small.Digest{from: to}, Edits: map[small.Digest][]small.Digest{from: {to}}}
	none := func() ([]*small.Value, error) { return []*small.Value{{}, {}, {}}, nil }
	for _, c := range []struct {
		old, now string
		waived   bool
	}{{"a\n", "b\n", true}, {"a\nb\n", "b\nb\n", true}, {"b\na\n", "b\nb\n", true}, {"a\nx\nb\n", "b\nx\nb\n", true}, {"b\n", "a\n", false}, {"b\nb\n", "a\nb\n", false}} {
		got, err := Compare(log(c.old), log(c.now), CompareOptions{Equal: equal, OldRecords: none, NewRecords: none})
		if err != nil || len(got.Edits) != 1 || got.Edits[0].Waived != c.waived || got.Edits[0].Kind != EditModified || (got.Relation == Rewritten) == c.waived {
			t.Errorf("%q became %q: %+v, %v", c.old, c.now, got, err)
		}
	}
}
