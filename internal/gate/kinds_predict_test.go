package gate_test

import (
	"context"
	"slices"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
)

// squashed judges a commit as the squash of a branch onto a target.
func (m *kindModel) squashed(target, head int) modelVerdict {
	one := &kindModel{kind: m.kind, whole: m, logs: slices.Clone(m.logs), parents: slices.Clone(m.parents)}
	one.parents[head] = []int{target}
	return one.commit(head)
}

// rotates reports whether a log went to an archive between two commits. Commits may do that one after the other in a way that one commit may
// not.
func (m *kindModel) rotates(target, head int) bool {
	moved := m.moves(target, head, true)
	for at := range m.logs[target] {
		if len(m.archives(target, head, at, moved, true)) > 0 {
			return true
		}
	}
	return false
}

// TestKindsPredicted checks that merge-check finds something on a branch that descends from its target if the squash of the branch is bad in
// the naive model.
func TestKindsPredicted(t *testing.T) {
	pass, fail := 0, 0
	for i := range *kindHistories {
		w := buildKinds(&tape{bytes: kindTape(*firstSeed + uint64(i))})
		if w.since >= 0 || w.rewrite != nil { // what they accept depends on where the branch began
			continue
		}
		h, ids := w.history()
		m := w.model()
		for _, pair := range w.pairs {
			target, head := pair[0], pair[1]
			if target == head || !m.reach(head)[target] || m.rotates(target, head) {
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
		}
	}
	t.Logf("%d predictions pass, %d fail", pass, fail)
	if *kindHistories >= 60 && (pass < 10 || fail < 5) {
		t.Error("the histories are lopsided: they no longer test much")
	}
}
