package ledger

import (
	"testing"

	"github.com/small-gate/small-gate/internal/small"
)

// An entry whose equal one is there too is not taken for a waived change of another entry.
func TestCompareEqualBeforeWaived(t *testing.T) {
	log := func(text string) *Ledger {
		l, _ := ReadLines([]byte(text))
		return l.Ledger
	}
	from, to := log("a\n").Entries[0].Digest, log("b\n").Entries[0].Digest
	equal := Equivalence{Same: map[small.Digest]small.Digest{from: to}, Edits: map[small.Digest][]small.Digest{from: {to}}}
	none := func() ([]*small.Value, error) { return []*small.Value{{}, {}, {}}, nil }
	for _, c := range []struct {
		old, now string
		edits    int
	}{{"b\n", "a\nb\n", 0}, {"b\n", "b\na\n", 0}, {"a\n", "b\n", 1}, {"a\nb\n", "b\nb\n", 1}, {"b\n", "a\n", 1}} {
		got, err := Compare(log(c.old), log(c.now), CompareOptions{Equal: equal, OldRecords: none, NewRecords: none})
		if err != nil || len(got.Edits) != c.edits {
			t.Errorf("%q became %q: %+v, %v", c.old, c.now, got.Edits, err)
		}
	}
}
