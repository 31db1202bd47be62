package gate_test

import (
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

// Flows of branches that are merged.

// Main is merged into a branch again and again, reconciled each time.
//
//	main    A(a) --- B(a b) --------- D(a b d)
//	           \        \                \
//	branch      C(a c) - E(a b c M1) ---- F(a b c d M1 M2)
func TestFlowRepeatedMerges(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a c")
	f.commit("D", "B", "a b d")
	f.commit("E", "C B", "a b c M1")
	f.commit("F", "E D", "a b c d M1 M2")
	f.clean(f.audit("F"))
	f.clean(f.rangeOf("D", "F"))
	f.want(f.pending("E D", "a b c M1 d M2"))
	// The first reconciliation says nothing about the second merge: D's side is
	// fine by it, E's is not.
	f.want(f.pending("E D", "a b c d M1"), "error divergence/unreconciled index from E: #3 task-d")
	f.want(f.pending("E D", "a b c M1 d"), "error divergence/unreconciled index from D: #2 task-c")
}

// A branch that reconciled is merged into main, by the merge button or as a
// squash, and main goes on; a merge queue tries both.
//
//	main    A(a) ---- B(a c) ------------ G(a b c M1) - H(… a1)
//	           \         \               /
//	branch      C(a b) -- E(a b c M1) --+
func TestFlowMergeButtonAndSquash(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a c")
	f.commit("C", "A", "a b")
	f.commit("E", "C B", "a b c M1")
	f.commit("G", "B E", "a b c M1")
	f.commit("H", "G", "a b c M1 a1")
	f.clean(f.rangeOf("B", "E"))
	f.clean(f.audit("H"))
	f.clean(f.push("B", "H"))
	f.clean(f.push("B", "E")) // the same as a fast-forward

	f.commit("S", "B", "a b c M1")
	f.commit("T", "S", "a b c M1 a1")
	squashed := "note append-only/reconciled-insertion S from B: #1 task-b"
	f.want(f.audit("T"), squashed)
	f.want(f.push("B", "T"), squashed)
	if r := f.audit("T"); r.Verdict != finding.Pass {
		t.Errorf("a squash is refused: %s", r.Verdict)
	}
	f.want(f.rangeOf("B", "S"), squashed)
}

// Work goes on after a reconciliation, and then the branch is merged: the
// marker is not the last entry.
//
//	main    A(a) ---- B(a c) --------------------------- G
//	           \         \                              /
//	branch      C(a b) -- E(a b c M1) - W(a b c M1 a1) +
func TestFlowWorkAfterTheMarker(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a c")
	f.commit("C", "A", "a b")
	f.commit("E", "C B", "a b c M1")
	f.commit("W", "E", "a b c M1 a1")
	f.commit("G", "B W", "a b c M1 a1")
	f.clean(f.rangeOf("B", "W"))
	f.clean(f.audit("G"))
	f.clean(f.pending("B W", "a b c M1 a1 b1"))
	f.want(f.pending("B", "a b c M1 a1"), "note append-only/reconciled-insertion index from B: #1 task-b")
}

// A merge queue merges one reconciled branch, then, on top of that, another
// that was reconciled with main alone.
//
//	main  A(a) - B(a c) ------- Q(a b c M1) ---- R
//	        \        \  \      /                /
//	one      C(a b) - E(a b c M1)              /
//	                   \                      /
//	two                 D(a c d) ------------+
func TestFlowMergeQueue(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a c")
	f.commit("C", "A", "a b")
	f.commit("E", "C B", "a b c M1")
	f.commit("D", "B", "a c d")
	f.commit("Q", "B E", "a b c M1")
	f.clean(f.rangeOf("B", "Q"))
	f.want(f.pending("Q D", "a b c M1 d"), "error divergence/unreconciled index from D: #1 task-b")
	f.clean(f.pending("Q D", "a b c d M1 M2"))
}

// A rebase puts the branch's entries after main's; the old tip is a part of
// the new one.
//
//	main    A(a) - B(a b) - C'(a b c)
//	          \
//	branch     C(a c)
func TestFlowRebase(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a c")
	f.commit("C'", "B", "a b c")
	f.clean(f.rangeOf("B", "C'"))
	f.clean(f.push("C", "C'"))
	f.commit("lost", "B", "a b")
	f.want(f.push("C", "lost"), "error append-only/deleted lost from C: #1 task-c")
	f.commit("edited", "B", "a b c'")
	f.want(f.push("C", "edited"), `error append-only/modified edited from C: #1 task-c to #2 task-c; evidence "did c" to "did c!"`)
	f.want(f.push("C", "A"), "error append-only/deleted A from C: #1 task-c")
}

// An octopus.
//
//	  A(a)
//	 / | \
//	B  C  D    (a b) (a c) (a d)
//	 \ | /
//	  M
func TestFlowOctopus(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a c")
	f.commit("D", "A", "a d")
	f.commit("M", "B C D", "a b c d M1")
	f.clean(f.audit("M"))
	f.wantAny(f.pending("B C D", "a b c d"),
		"error divergence/unreconciled index from C: #1 task-b", "error divergence/unreconciled index from D: #1 task-b")
	r := f.pending("B C D", "a b d M1")
	f.want(r, "error divergence/lost-entry index from C: #1 task-c")
	if !strings.Contains(r.Findings[0].Message, "the merged side ("+f.id("C")[:12]+")") {
		t.Errorf("the message does not name the side: %s", r.Findings[0].Message)
	}
	f.want(f.pending("B C D", "a c d M1"), "error divergence/lost-entry index from B: #1 task-b")
	f.want(f.pending("B C D", "a b c M1"), "error divergence/lost-entry index from D: #1 task-d")
}

// An entry that neither side has is slipped into a merge.
//
//	A(a) - B(a b) - M
//	  \            /
//	   C(a c) ----+
func TestFlowSlippedIntoMerge(t *testing.T) {
	slipped := func(place string) string { return "error append-only/inserted index from B: #" + place + " task-x" }
	for _, c := range []struct {
		logs string
		want []string
	}{
		{"a b x c M1", []string{slipped("2")}},
		{"x a b c M1", []string{slipped("0")}},
		{"a x b c M1", []string{slipped("1")}},
		{"a b c x M1", nil},
		{"a b c M1 x", nil},
		{"a b M1 c", []string{
			"error append-only/inserted index from B: #2 meta/reconcile-merge",
			"error divergence/unreconciled index from C: #1 task-b",
		}},
	} {
		t.Log(c.logs)
		f := newFlow(t)
		f.commit("A", "", "a")
		f.commit("B", "A", "a b")
		f.commit("C", "A", "a c")
		f.wantAny(f.pending("B C", c.logs), c.want...)
	}
}

// An entry is slipped into a merge that would have needed no reconciliation,
// since only one side went on.
//
//	A(a b) - B(a b c) - M
//	  \                /
//	   C(a b, other) -+
func TestFlowSlippedIntoOneSidedMerge(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "a b c")
	f.commit("C", "A", "a b")
	f.clean(f.pending("B C", "a b c"))
	f.clean(f.pending("C B", "a b c"))
	f.clean(f.pending("B C", "a b c d"))
	f.want(f.pending("B C", "a b x c"), "error append-only/inserted index from B: #2 task-x")
	f.want(f.pending("B C", "a b x c M1"), "error append-only/inserted index from B: #2 task-x")
}

// An edit on main is brought along by a merge: it is reported once, at the commit
// that made it.
//
//	main    A(a b) - B(a b')
//	          \         \
//	branch     C(a b c) - D(a b' c)
func TestFlowEditThroughMerge(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "a b'")
	f.commit("C", "A", "a b c")
	f.commit("D", "C B", "a b' c")
	f.commit("E", "D", "a b' c d")
	edit := `: #1 task-b to #1 task-b; evidence "did b" to "did b!"`
	f.want(f.audit("E"), "error append-only/modified B from A"+edit)
	f.want(f.rangeOf("A", "E"), "error append-only/modified B from A"+edit)
	// Where B is not examined, the merge is the earliest commit.
	f.want(f.rangeOf("B", "E"), "error append-only/modified D from C"+edit)
	// The other resolution of the conflict undoes the edit.
	f.want(f.pending("C B", "a b c"), `error append-only/modified index from B: #1 task-b to #1 task-b; evidence "did b!" to "did b"`)
}

// The merge itself edits an entry that both sides have.
//
//	A(a b) - B(a b c) - M(a b' c d M1)
//	  \                /
//	   C(a b d) ------+
func TestFlowEditInMerge(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "a b c")
	f.commit("C", "A", "a b d")
	f.commit("M", "B C", "a b' c d M1")
	f.wantAny(f.audit("M"), `error append-only/modified M from B: #1 task-b to #1 task-b; evidence "did b" to "did b!"`)
}

// A conflict is resolved by hand and loses one side's entry, or all of them.
//
//	A(a) - B(a b) - M
//	  \            /
//	   C(a c d) --+
func TestFlowLostInMerge(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a c d")
	for _, c := range []struct{ logs, side, want string }{
		{"a c d M1", "our side (" + f.id("B")[:12] + ")", "error divergence/lost-entry index from B: #1 task-b"},
		{"a c d", "our side (" + f.id("B")[:12] + ")", "error divergence/lost-entry index from B: #1 task-b"},
		{"a b c M1", "the merged side (" + f.id("C")[:12] + ")", "error divergence/lost-entry index from C: #2 task-d"},
	} {
		r := f.pending("B C", c.logs)
		f.want(r, c.want)
		if len(r.Findings) > 0 && !strings.Contains(r.Findings[0].Message, c.side) {
			t.Errorf("%s: the message does not name %s: %s", c.logs, c.side, r.Findings[0].Message)
		}
	}
	f.wantAny(f.pending("B C", "a b"),
		"error divergence/lost-entry index from C: #1 task-c", "error divergence/lost-entry index from C: #2 task-d")
	// Two entries became one: the task of one, the time of the other.
	f.words["mix"] = f.entry("c")
	f.words["mix"]["task_id"] = "task-b"
	f.wantAny(f.pending("B C", "a mix d M1"),
		"error divergence/lost-entry index from B: #1 task-b",
		`error append-only/modified index from C: #1 task-c to #1 task-b; task_id "task-c" to "task-b"`)
}

// Two branches merge each other, crosswise, and are then merged.
//
//	A(a) - B(a b) - D(a b c M1) - F
//	  \        \ /               /
//	   \        X               /
//	    \      / \             /
//	     C(a c) - E(a b c M2) +
func TestFlowCrissCross(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a c")
	f.commit("D", "B C", "a b c M1")
	f.commit("E", "C B", "a b c M2")
	f.commit("F", "D E", "a b c M1 M2 M3")
	f.clean(f.audit("F"))
	f.want(f.pending("D E", "a b c M1 M2"), "error divergence/unreconciled index from E: #3 meta/reconcile-merge")
	f.want(f.rangeOf("D", "E"), "error divergence/concurrent-append E from D: #3 meta/reconcile-merge")
}

// Two histories without a common root are merged.
//
//	A(a) - B(a c) - M
//	C(b d) --------+
func TestFlowTwoRoots(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a c")
	f.commit("C", "", "b d")
	f.commit("M", "B C", "a b c d M1")
	f.clean(f.audit("M"))
	f.wantAny(f.pending("B C", "a b c d"),
		"error divergence/unreconciled index from B: #1 task-b",
		"error divergence/unreconciled index from C: #0 task-a")
	f.want(f.pending("B C", "a c b d M1"))
}

// A squash that made an insertion explicit is a warning. A later commit with the
// same insertion that does not make it explicit is still an error.
//
//	A(a) ---- B(a c) - S(a b c M1)
//	   \         \  \
//	    \         \   X(a b c)
//	     \         \
//	      C(a b) --- W(a b c)
func TestFlowErrorAfterWarning(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a c")
	f.commit("C", "A", "a b")
	f.commit("S", "B", "a b c M1")
	f.commit("W", "B C", "a b c")
	f.commit("X", "B", "a b c")
	f.commit("Y", "S W", "a b c M1")
	f.commit("Z", "S X", "a b c M1")
	warning := "note append-only/reconciled-insertion S from B: #1 task-b"
	f.wantAny(f.audit("Y"), warning, "error divergence/unreconciled W from B: #1 task-b")
	f.wantAny(f.audit("Z"), warning, "error append-only/inserted X from B: #1 task-b")
}

// Two branches make the same edit. It is reported once, at the side that the
// merge names first.
//
//	A(a b) - B(a b') - M
//	   \              /
//	    C(a b') -----+
func TestFlowSameEditOnBothSides(t *testing.T) {
	for _, order := range []struct{ parents, first string }{{"B C", "B"}, {"C B", "C"}} {
		f := newFlow(t)
		f.commit("A", "", "a b")
		f.commit("B", "A", "a b'")
		f.commit("C", "A", "a b'")
		f.commit("M", order.parents, "a b'")
		f.want(f.audit("M"), "error append-only/modified "+order.first+` from A: #1 task-b to #1 task-b; evidence "did b" to "did b!"`)
	}
}

// A bad merge is corrected in place, whichever side shows what is wrong with it: undoing it would throw work away, or flatten it.
//
//	A(a) - B(a b) - Lost(a b), Mixed(a b c), Edited(a b' c M1), Gone(-)
//	  \       ____/
//	   C(a c)
func TestFlowBadMergeMended(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a c")
	f.commit("D", "A", "a d")
	for name, logs := range map[string]string{"Lost": "a b", "Mixed": "a b c", "Edited": "a b' c M1", "Gone": "-"} {
		f.commit(name, "B C", logs)
		r := f.audit(name)
		if len(r.Findings) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
		for _, x := range r.Findings {
			if x.Commit == f.id(name) && x.Fix != "`small-hook restore --commit "+f.id(name)[:12]+"`" {
				t.Errorf("%s, %s: %s", name, x.Rule, x.Fix)
			}
		}
	}
	f.commit("Octopus", "B C D", "a b d M1")
	f.want(f.audit("Octopus"), "error divergence/lost-entry Octopus from C: #1 task-c")
	f.says(f.audit("Octopus"), "`small-hook restore --commit "+f.id("Octopus")[:12]+"`")
	r := f.pending("B C", "a b' c M1")
	f.says(r, "`small-hook reconcile`, `git commit --no-edit`")
	if strings.Contains(r.Findings[0].Fix, "git reset") {
		t.Error(r.Findings[0].Fix)
	}
}
