package gate_test

import (
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/policy"
)

// Flows that end in two tips: a target and a head.

// Both sides appended.
//
//	A(a) - B(a b)
//	  \
//	   C(a c d)
func TestFlowConcurrentAppend(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a c d")
	f.commit("C2", "A", "a d")
	r := f.rangeOf("B", "C")
	f.want(r, "error divergence/concurrent-append C from B: #1 task-c")
	for _, part := range []string{"task-b", "task-c", "task-d", f.id("B")[:12], f.id("C")[:12]} {
		if len(r.Findings) > 0 && !strings.Contains(r.Findings[0].Message, part) {
			t.Errorf("the message does not name %s: %s", part, r.Findings[0].Message)
		}
	}
	f.want(f.rangeOf("C", "B"), "error divergence/concurrent-append B from C: #1 task-b")
	f.want(f.rangeOf("C2", "C"), "error divergence/unreconciled C from C2: #1 task-c")
	f.clean(f.rangeOf("A", "C"))
}

// One side holds all entries of the other, among its own: both recorded c, or
// it was picked from one to the other.
//
//	A(a) - B(a c)
//	  \
//	   C(a b c) - D(a b c M1)
func TestFlowSubsequenceOfTheOther(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a c")
	f.commit("C", "A", "a b c")
	f.commit("D", "C", "a b c M1")
	f.want(f.rangeOf("B", "C"), "error divergence/unreconciled C from B: #1 task-b")
	f.want(f.rangeOf("C", "B"), "error divergence/unreconciled B from C: #1 task-b")
	f.clean(f.rangeOf("B", "D"))
	f.clean(f.rangeOf("D", "B")) // D's side is ahead, and explicit
}

// The target has all that the head has: nothing is left to merge.
//
//	A(a) - B(a b) - C(a b c)
func TestFlowHeadBehindTarget(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "B", "a b c")
	f.commit("D", "B", "a b")
	f.clean(f.rangeOf("C", "A"))
	f.clean(f.rangeOf("C", "D"))
	f.clean(f.rangeOf("B", "B"))
}

// The head edited what the target has: the edit is reported, once. If the target
// went on as well, the two writers are reported too.
//
//	A(a b) - T(a b t)
//	   \
//	    H(a b' c)
func TestFlowEditAtTheTip(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("T", "A", "a b t")
	f.commit("H", "A", "a b' c")
	edit := `error append-only/modified H from A: #1 task-b to #1 task-b; evidence "did b" to "did b!"`
	f.want(f.rangeOf("A", "H"), edit)
	f.wantAny(f.rangeOf("T", "H"), edit, "error divergence/concurrent-append H from T: #1 task-b")
}

// The target was rewritten since the head began. The head did nothing wrong,
// but they do not fit.
//
//	A(a b) - T(a b')
//	   \
//	    H(a b c)
func TestFlowTargetRewritten(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("T", "A", "a b'")
	f.commit("R", "A", "b a")
	f.commit("H", "A", "a b c")
	f.want(f.rangeOf("T", "H"), "error divergence/concurrent-append H from T: #1 task-b")
	f.want(f.rangeOf("R", "H"), "error divergence/concurrent-append H from R: #2 task-c")
}

// One of the tips has no log, or none that can be read: two writers are
// not reported; what happened to the log is found on the edges.
func TestFlowTipWithoutLog(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "-")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "-")
	f.commit("D", "A", "a ?")
	f.clean(f.rangeOf("B", "C"))
	f.clean(f.rangeOf("C", "B"))
	f.want(f.rangeOf("B", "D"), "error validate/yaml D from A")
	f.clean(f.rangeOf("D", "B"))
}

// On one line nobody diverges: what was done is reported on the edges, and if a
// rule is off nothing is reported instead.
//
//	A(a b) - B(sub: a b) - C(sub: a' b) - D(sub: a' b c)
func TestFlowOneLineDivergesNowhere(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "- | sub: a b")
	f.commit("C", "B", "- | sub: a' b")
	f.commit("D", "C", "- | sub: a' b c")
	edit := `error append-only/modified C from B: #0 task-a to #0 task-a; evidence "did a" to "did a!" in sub/`
	f.want(f.rangeOf("A", "D"), edit)
	f.opts.Policy.Rules = map[string]policy.Level{"append-only/modified": policy.Off}
	f.clean(f.rangeOf("A", "D"))
	f.clean(f.rangeOf("B", "C"))
}
