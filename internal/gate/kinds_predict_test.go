package gate_test

import (
	"context"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
)

// squashed judges a commit as the squash of a branch onto a target.
func (m *kindModel) squashed(target, head int) modelVerdict {
	return m.asCommit(target, head, false).commit(head)
}

// TestKindsPredicted checks what is said of a branch that descends from its target. If the squash of the branch is bad in the naive model,
// merge-check finds something. If a range passes, so does the squash.
func TestKindsPredicted(t *testing.T) {
	pass, fail, green := 0, 0, 0
	for i := range *kindHistories {
		w := buildKinds(&tape{bytes: kindTape(*firstSeed + uint64(i))})
		if w.since >= 0 || w.rewrite != nil { // what they accept depends on where the branch began
			continue
		}
		h, ids := w.history()
		m := w.model()
		for _, pair := range w.pairs {
			target, head := pair[0], pair[1]
			if target == head || !m.reach(head)[target] {
				continue
			}
			r := gate.MergeCheck(context.Background(), h, ids[target], ids[head], "main", "topic", "", w.options(ids))
			switch bad := m.squashed(target, head) == bad; {
			case bad && !refuses(r):
				t.Fatalf("seed %d: the squash of c%d onto c%d is bad, and merge-check passes\n%s", *firstSeed+uint64(i), head, target, w.draw())
			case bad:
				fail++
			case !refuses(r):
				pass++
			}
			if refuses(gate.Range(context.Background(), h, ids[target], ids[head], w.options(ids))) {
				continue
			}
			green++
			h.stage(w.trees[head])
			if r := gate.Pending(context.Background(), h, []string{ids[target]}, w.options(ids)); refuses(r) {
				t.Fatalf("seed %d: c%d..c%d passes, and its squash does not\n%s\n%s", *firstSeed+uint64(i), target, head, w.draw(), listFindings(r, ids))
			}
		}
	}
	t.Logf("%d predictions pass, %d fail; %d ranges pass", pass, fail, green)
	if *kindHistories >= 60 && (pass < 10 || fail < 5 || green < 10) {
		t.Error("the histories are lopsided: they no longer test much")
	}
}
