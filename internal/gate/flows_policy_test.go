package gate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
)

// Flows under a policy: waivers, a baseline, rule levels.

// editOf is what a rule's findings say was done to a log.
func editOf(rule string) ledger.EditEffect {
	r, _ := catalogue.Find(rule)
	return r.Edit
}

// waive adds a waiver for the edit of one word into another; "" is none.
func (f *flow) waive(rule, from, to string) {
	f.t.Helper()
	w := policy.Waiver{Rule: rule, Edit: editOf(rule), Path: logPath(""), Reason: "for " + from}
	if from != "" {
		w.From = f.digest(from)
	}
	if to != "" {
		w.To = f.digest(to)
	}
	f.opts.Policy.Waivers = append(f.opts.Policy.Waivers, w)
}

// A private path is redacted, with a waiver.
//
//	A(a b) - B(a b') - C(a b' c)
func TestFlowWaivedModification(t *testing.T) {
	edit := `error append-only/modified B from A: #1 task-b to #1 task-b; evidence "did b" to "did b!"`
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "a b'")
	f.commit("C", "B", "a b' c")
	f.want(f.audit("C"), edit)
	f.waive("append-only/modified", "b", "b'")
	r := f.audit("C")
	f.clean(r)
	f.waived(r, edit)
	if r.Waived[0].Reason != "for b" {
		t.Errorf("the reason is %q", r.Waived[0].Reason)
	}
	f.clean(f.pending("C", "a b' c d"))
	f.want(f.pending("C", "a b' c'"), `error append-only/modified index from C: #2 task-c to #2 task-c; evidence "did c" to "did c!"`)
	f.want(f.pending("C", "a b'' c"), `error append-only/modified index from C: #1 task-b to #1 task-b; evidence "did b!" to "did b!!"`)
	f.want(f.pending("C", "a c"), "error append-only/deleted index from C: #1 task-b")
	f.want(f.pending("A", "b' a"), "error append-only/reordered index from A: #0 task-a to #1 task-a")
}

// The redaction is merged with a branch that began before it.
//
//	main    A(a b) - B(a b') ----- D(a b' c)
//	           \                  /
//	branch      C(a b c) --------+
func TestFlowWaivedModificationMerged(t *testing.T) {
	edit := `error append-only/modified B from A: #1 task-b to #1 task-b; evidence "did b" to "did b!"`
	f := newFlow(t)
	f.waive("append-only/modified", "b", "b'")
	f.commit("A", "", "a b")
	f.commit("B", "A", "a b'")
	f.commit("C", "A", "a b c")
	f.commit("D", "B C", "a b' c")
	f.clean(f.audit("D"))
	f.waived(f.audit("D"), edit)
	f.clean(f.rangeOf("B", "C")) // the branch is ahead of main
	f.clean(f.rangeOf("C", "D"))
	f.clean(f.pending("C B", "a b' c"))
	f.want(f.pending("B C", "a b'"), "error divergence/lost-entry index from C: #2 task-c")
	f.want(f.pending("B C", "a c"),
		"error divergence/lost-entry index from B: #1 task-b", "error divergence/lost-entry index from C: #1 task-b")
}

// The old version comes back in a commit of its own: no waiver names that edit.
// A waiver for each of two steps excuses both in one, and not the way back.
//
//	A(a b) - B(a b') - C(a b)
func TestFlowWaivedModificationUndone(t *testing.T) {
	f := newFlow(t)
	f.waive("append-only/modified", "b", "b'")
	f.waive("append-only/modified", "b'", "b''")
	f.commit("A", "", "a b")
	f.commit("B", "A", "a b'")
	f.commit("C", "B", "a b c")
	back := `error append-only/modified C from B: #1 task-b to #1 task-b; evidence "did b!" to "did b"`
	f.want(f.audit("C"), back)
	f.want(f.rangeOf("B", "C"), back)
	f.clean(f.pending("A", "a b''"))
	f.want(f.pending("B", "a b c d"), `error append-only/modified index from B: #1 task-b to #1 task-b; evidence "did b!" to "did b"`)
	f.waive("append-only/modified", "b'", "b")
	f.clean(f.rangeOf("A", "C"))
}

// One commit does what two waivers excuse, one after the other: it is listed, and
// both of them are used. What was changed and then deleted may be missing
// from a merge with a branch that still has it.
//
//	A(a b c) - B(a b'' c)        A - C(a c) - E(a c c1)
//	   \
//	    D(a b c d)
func TestFlowWaiversInARow(t *testing.T) {
	f := newFlow(t)
	f.waive("append-only/modified", "b", "b'")
	f.waive("append-only/modified", "b'", "b''")
	f.commit("A", "", "a b c")
	f.commit("B", "A", "a b'' c")
	edit := `error append-only/modified B from A: #1 task-b to #1 task-b; evidence "did b" to "did b!!"`
	f.clean(f.audit("B"))
	f.waived(f.audit("B"), edit)
	f.waive("append-only/deleted", "b''", "")
	f.commit("C", "A", "a c")
	f.commit("D", "A", "a b c d")
	f.commit("E", "C", "a c c1")
	f.clean(f.audit("C"))
	f.clean(f.pending("E D", "a c d c1 M2"))
	f.want(f.pending("E D", "a b c d c1"), "error divergence/unreconciled index from E: #1 task-b")
}

// A waiver for an edit does not excuse that the same two versions were swapped.
//
//	A(a b) - B(a b')
//	   \
//	    C(b a)
func TestFlowWaivedModificationReordered(t *testing.T) {
	f := newFlow(t)
	f.waive("append-only/modified", "b", "b'")
	f.commit("A", "", "a b")
	f.commit("B", "A", "a b'")
	f.commit("C", "A", "b a")
	f.clean(f.rangeOf("A", "B"))
	if r := f.push("C", "B"); r.Verdict != finding.Fail || len(r.Findings) != 1 || r.Findings[0].Rule != "append-only/reordered" {
		t.Errorf("the push is %s: %v", r.Verdict, r.Findings)
	}
}

// The merge itself makes the waived edit, or an edit that only looks like it.
//
//	A(a b) - B(a b c) - M
//	   \               /
//	    C(a b d) -----+
func TestFlowWaivedModificationInMerge(t *testing.T) {
	f := newFlow(t)
	f.waive("append-only/modified", "b", "b'")
	f.commit("A", "", "a b")
	f.commit("B", "A", "a b c")
	f.commit("C", "A", "a b d")
	r := f.pending("B C", "a b' c d M1")
	f.clean(r)
	f.waived(r, `error append-only/modified index from B: #1 task-b to #1 task-b; evidence "did b" to "did b!"`)
	f.want(f.pending("B C", "a b'' c d M1"), `error append-only/modified index from B: #1 task-b to #1 task-b; evidence "did b" to "did b!!"`)
}

// A waiver has an end, a path and a direction.
func TestFlowWaiverThatDoesNotHold(t *testing.T) {
	edit := `error append-only/modified index from A: #1 task-b to #1 task-b; evidence "did b" to "did b!"`
	for name, change := range map[string]func(*policy.Waiver){
		"expired":     func(w *policy.Waiver) { w.Until = now.AddDate(0, 0, -2) },
		"other log":   func(w *policy.Waiver) { w.Path = logPath("sub") },
		"no end":      func(w *policy.Waiver) { w.To = nil },
		"other rule":  func(w *policy.Waiver) { w.Rule, w.Edit = "append-only/reordered", 0 },
		"other edit":  func(w *policy.Waiver) { w.To = w.From },
		"other entry": func(w *policy.Waiver) { w.From = w.To },
	} {
		f := newFlow(t)
		f.commit("A", "", "a b")
		f.waive("append-only/modified", "b", "b'")
		f.clean(f.pending("A", "a b'"))
		change(&f.opts.Policy.Waivers[0])
		t.Log(name)
		f.want(f.pending("A", "a b'"), edit)
	}
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.waive("append-only/modified", "b", "b'")
	f.opts.Policy.Waivers[0].Until = now.UTC().Truncate(24 * time.Hour)
	f.clean(f.pending("A", "a b'")) // its last day
}

// A(a b c) - B(a c), the deletion waived; then merges with what still has b
func TestFlowWaivedDeletion(t *testing.T) {
	deletion := "error append-only/deleted B from A: #1 task-b"
	f := newFlow(t)
	f.commit("A", "", "a b c")
	f.commit("B", "A", "a c")
	f.commit("C", "A", "a b c d")
	f.commit("D", "B C", "a c d")
	f.want(f.audit("B"), deletion)
	f.waive("append-only/deleted", "b", "")
	f.clean(f.audit("B"))
	f.waived(f.audit("B"), deletion)
	f.clean(f.audit("D"))
	f.waived(f.audit("D"), deletion)
	f.clean(f.pending("C B", "a c d"))
	f.want(f.pending("A", "b c"), "error append-only/deleted index from A: #0 task-a")
	f.want(f.pending("A", "a"), "error append-only/deleted index from A: #2 task-c")
	// A new version in its place is not what was waived.
	f.want(f.pending("A", "a b' c"), "error append-only/inserted index from A: #1 task-b")
}

// A log that ended is removed, with a waiver for its head.
func TestFlowWaivedLogDeletion(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "-")
	head := f.head("a b")
	f.opts.Policy.Waivers = []policy.Waiver{{Rule: "append-only/log-deleted", Edit: ledger.LogEnded, Path: logPath(""), From: &head, Reason: "ended"}}
	f.clean(f.audit("B"))
	f.waived(f.audit("B"), "error append-only/log-deleted B from A")
	f.commit("C", "", "a b c")
	f.want(f.pending("C", "-"), "error append-only/log-deleted index from C")
}

// Known tools' rewrites are waived under their own names, or as what they are.
func TestFlowWaivedMigration(t *testing.T) {
	for _, rule := range []string{"append-only/timestamp-migrated", "append-only/modified"} {
		f := newFlow(t)
		f.commit("A", "", "a b")
		f.waive(rule, "a", "a~")
		f.waive(rule, "b", "b~")
		f.clean(f.pending("A", "a~ b~ c"))
		f.clean(f.pending("A", "a~ b c"))
		f.want(f.pending("A", "a~ b' c"), `error append-only/modified index from A: #1 task-b to #1 task-b; evidence "did b" to "did b!"`)
	}
}

// The log was reset before the gate was adopted.
//
//	A(a b c) - B(x y) - C(x y z)
func TestFlowBaseline(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b c")
	f.commit("B", "A", "x y")
	f.commit("C", "B", "x y z")
	if r := f.audit("C"); r.Verdict != finding.Fail {
		t.Error("without a baseline the reset passes")
	}
	f.opts.Policy.Baselines = []policy.Baseline{{Path: logPath(""), Entries: 2, Head: f.head("x y"), Reason: "adopted here"}}
	f.clean(f.audit("C"))
	f.clean(f.rangeOf("B", "C"))
	f.clean(f.pending("C", "x y z x1"))
	// If the trusted side has not adopted it, it excuses nothing.
	if r := f.rangeOf("A", "C"); r.Verdict != finding.Fail || !strings.Contains(fmt.Sprint(r.Findings), "config/baseline-mismatch") {
		t.Errorf("a baseline with which the base does not begin: %v", r.Findings)
	}
	// From there on everything is judged, the accepted entries too.
	f.commit("D", "C", "x' y z")
	f.commit("E", "D", "x y z")
	r := f.audit("E")
	if lines := strings.Join(f.lines(r.Findings), "\n"); !strings.Contains(lines, "append-only/modified D from C: #0 task-x") {
		t.Errorf("an edit under the baseline that is put back later is not found:\n%s", lines)
	}
	f.commit("F", "C", "x y")
	f.want(f.audit("F"), "error append-only/deleted F from C: #2 task-z")
	f.commit("G", "C", "x y z x1")
	f.commit("H", "C", "x y z y1")
	f.want(f.pending("G H", "x y z x1"), "error divergence/lost-entry index from H: #3 task-y1")
}

// A branch that began before the gate was adopted is merged.
//
//	A(a b) - B(x y) - E(x y z)
//	   \
//	    C(a b c1)
func TestFlowBaselineMerged(t *testing.T) {
	f := newFlow(t)
	f.opts.Policy.Baselines = []policy.Baseline{{Path: logPath(""), Entries: 2, Head: f.head("x y"), Reason: "adopted here"}}
	f.commit("A", "", "a b")
	f.commit("B", "A", "x y")
	f.commit("C", "A", "a b c1")
	f.commit("E", "B", "x y z")
	f.clean(f.pending("B C", "x y c1"))
	f.clean(f.pending("E C", "x y z c1 M2"))
	// What the branch recorded after it left the accepted past is protected.
	f.want(f.pending("E C", "x y z"), "error divergence/lost-entry index from C: #2 task-c1")
	f.want(f.pending("E C", "x y z c1"), "error divergence/unreconciled index from C: #2 task-z")
	f.want(f.pending("E C", "x y c1 z"), "error divergence/unreconciled index from E: #2 task-c1")
	f.clean(f.rangeOf("B", "A"))
	if r := f.rangeOf("B", "C"); len(r.Findings) != 1 || r.Findings[0].Rule != "divergence/concurrent-append" {
		t.Errorf("two tips, one before the baseline: %v", f.lines(r.Findings))
	}
	f.commit("D", "B C", "x y c2")
	f.want(f.audit("D"), "error divergence/lost-entry D from C: #2 task-c1")
	// In a plain commit too.
	f.opts.Trusted = f.id("B")
	f.want(f.pending("C", "x y"), "error append-only/deleted index from C: #2 task-c1")
	f.clean(f.pending("C", "x y c1 d1"))
	f.want(f.pending("C", "b c1"), "error append-only/deleted index from C: #0 task-a")
}

// A branch takes over what was rewritten before the gate was adopted.
//
//	A(a b) - B(a' b) - C(a' b c) the baseline
//	   \            \
//	    D(a b d) --- M(a' b d)
func TestFlowBaselinePastMerged(t *testing.T) {
	f := newFlow(t)
	f.opts.Policy.Baselines = []policy.Baseline{{Path: logPath(""), Entries: 3, Head: f.head("a' b c"), Reason: "adopted here"}}
	f.commit("A", "", "a b")
	f.commit("B", "A", "a' b")
	f.commit("C", "B", "a' b c")
	f.commit("D", "A", "a b d")
	f.commit("M", "D B", "a' b d")
	f.want(f.audit("C"))
	f.opts.Trusted = f.id("C")
	f.clean(f.pending("D B", "a' b d"))
	f.want(f.pending("D B", "a' b"), "error divergence/lost-entry index from D: #2 task-d")
	f.want(f.pending("D", "a' b d"), `error append-only/modified index from D: #0 task-a to #0 task-a; evidence "did a" to "did a!"`)
	f.clean(f.pending("C M", "a' b c d")) // what the baseline accepts need not be made explicit
}

// A baseline of one workspace excuses nothing in another, even if that takes the
// same log.
//
//	A(a b | sub: a b) - B(a b | sub: x) both accepted - C(x y | sub: x)
func TestFlowBaselineOfAnother(t *testing.T) {
	f := newFlow(t)
	f.opts.Policy.Baselines = []policy.Baseline{
		{Path: logPath(""), Entries: 2, Head: f.head("a b"), Reason: "adopted here"},
		{Path: logPath("sub"), Entries: 1, Head: f.head("x"), Reason: "adopted here"},
	}
	f.commit("A", "", "a b | sub: a b")
	f.commit("B", "A", "a b | sub: x")
	f.clean(f.audit("B"))
	f.want(f.pending("B", "x y | sub: x"), "error append-only/deleted index from B: #0 task-a", "error append-only/deleted index from B: #1 task-b")
	f.want(f.pending("B", "- | sub: x | deep/er: x y"), "error append-only/log-deleted index from B")
}

// An accepted entry is redacted, with a waiver: the log then no longer begins with
// exactly the baseline.
//
//	A(x) - B(a b c) the baseline - C(a' b c) waived - D(a' b c d)
func TestFlowBaselineWaived(t *testing.T) {
	f := newFlow(t)
	f.opts.Policy.Baselines = []policy.Baseline{{Path: logPath(""), Entries: 2, Head: f.head("a b"), Reason: "adopted here"}}
	f.waive("append-only/modified", "a", "a'")
	f.commit("A", "", "x")
	f.commit("B", "A", "a b c")
	f.commit("C", "B", "a' b c")
	f.commit("D", "C", "a' b c d")
	f.clean(f.audit("D"))
	f.clean(f.pending("D", "a' b c d e"))
	for _, forged := range []string{"a b f", "a b c d e", "a' b f"} {
		f.commit("F", "D", forged)
		if r := f.rangeOf("D", "F"); r.Verdict != finding.Fail {
			t.Errorf("%s passes", forged)
		}
		if r := f.push("D", "F"); r.Verdict != finding.Fail {
			t.Errorf("%s can be pushed", forged)
		}
	}
}

// A log with a baseline moves. The stanza may stay as it is, or name the new
// place, or both places.
//
//	A(a) - B(x y) the baseline - C(sub: x y) - D(sub: x y z)
//	  \
//	   E(a e1)
func TestFlowBaselineMoved(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "x y")
	f.commit("C", "B", "- | sub: x y")
	f.commit("D", "C", "- | sub: x y z")
	f.commit("E", "A", "a e1")
	at := func(dir string) policy.Baseline {
		return policy.Baseline{Path: logPath(dir), Entries: 2, Head: f.head("x y"), Reason: "adopted here"}
	}
	for _, stanzas := range [][]policy.Baseline{{at("")}, {at("sub")}, {at(""), at("sub")}} {
		f.opts.Policy.Baselines = stanzas
		f.clean(f.audit("D"))
		f.clean(f.pending("D E", "- | sub: x y z e1 M2"))
		if r := f.pending("D E", "- | sub: x y z"); r.Verdict != finding.Fail {
			t.Error("the branch's own entry is lost")
		}
		f.want(f.pending("D", "- | sub: x' y z"), `error append-only/modified index from D: #0 task-x to #0 task-x; evidence "did x" to "did x!" in sub/`)
		f.clean(f.pending("D", "x y z | sub: -"))
	}
}

// A rewrite that was pushed to a branch is taken back by a forced push.
//
//	A(a b) main - B(a b c) - C(a b' c) - D(a b' c d)
func TestFlowTakenBack(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "a b c")
	f.commit("C", "B", "a b' c")
	f.commit("D", "C", "a b' c d")
	push := func(old, logs, target string) *finding.Report {
		f.commit("N", "B", logs)
		u := history.Update{Ref: "refs/heads/topic", Old: f.id(old), New: f.id("N"), Target: history.Tip{ID: f.id(target), Name: "main"}}
		return gate.Push(context.Background(), f.h, u, f.opts)
	}
	f.clean(push("D", "a b c d", "A"))
	f.clean(push("C", "a b c e", "A"))
	for what, logs := range map[string]string{"another version": "a b'' c d", "an entry lost": "a b c", "the old one elsewhere": "a c b d"} {
		if r := push("D", logs, "A"); r.Verdict != finding.Fail {
			t.Error(what)
		}
	}
	// What the default branch has is not taken back.
	if r := push("D", "a b c d", "C"); r.Verdict != finding.Fail {
		t.Error("a rewrite on the default branch is taken back")
	}
	// An entry that a merge has from one side is not a new version of one that it lost from the other.
	f.words["b1"] = f.entry("b1")
	f.words["c1"] = f.words["b1"].clone()
	f.words["c1"]["evidence"] = "did another thing at the same time"
	f.commit("X", "A", "a b b1")
	f.commit("Y", "A", "a b c1")
	f.commit("Z", "X Y", "a b b1")
	u := history.Update{Ref: "refs/heads/topic", Old: f.id("Z"), New: f.id("Y"), Target: history.Tip{ID: f.id("A"), Name: "main"}}
	if r := gate.Push(context.Background(), f.h, u, f.opts); r.Verdict != finding.Fail {
		t.Error("an entry of one side is dropped for that of another")
	}
	// An entry that was rewritten and put back is not a rewrite of the version in
	// between, and that version is nothing to go back to.
	f.commit("P", "A", "a b h1")
	f.commit("Q", "P", "a b h1'")
	f.commit("R", "Q", "a b h1")
	f.commit("S", "A", "a b h1'")
	f.commit("T", "Q", "a b h1''")
	for _, c := range []struct {
		old, tip string
		want     finding.Verdict
	}{{"R", "S", finding.Fail}, {"T", "S", finding.Fail}, {"T", "P", finding.Pass}, {"Q", "P", finding.Pass}} {
		u := history.Update{Ref: "refs/heads/topic", Old: f.id(c.old), New: f.id(c.tip), Target: history.Tip{ID: f.id("A"), Name: "main"}}
		if r := gate.Push(context.Background(), f.h, u, f.opts); r.Verdict != c.want {
			t.Errorf("%s to %s: %s", c.old, c.tip, r.Verdict)
		}
	}
	// Two rewrites, and a change of order.
	f.commit("E", "D", "a b'' c d")
	f.clean(push("E", "a b c d", "A"))
	f.commit("F", "B", "b a c")
	f.clean(push("F", "a b c", "A"))
	f.commit("G", "B", "a g b c")
	f.want(push("G", "a b c g", "B"))
	f.clean(push("G", "a b c g1", "B")) // it is recorded again
	f.clean(push("G", "a b c", "B"))
	// The first and the last entry are rewritten, and the push that takes it back
	// moves the workspace.
	f.commit("W0", "A", "- | sub: a b c")
	f.commit("W", "W0", "- | sub: a' b c")
	f.commit("W2", "W", "- | sub: a' b c'")
	f.commit("W3", "A", "- | deep/er: a b c")
	u = history.Update{Ref: "refs/heads/topic", Old: f.id("W2"), New: f.id("W3"), Target: history.Tip{ID: f.id("A"), Name: "main"}}
	f.clean(gate.Push(context.Background(), f.h, u, f.opts))
	// The workspace moves on the way, or with the push that takes the rewrite back.
	f.commit("U", "D", "- | sub: a b' c d")
	for logs, want := range map[string]finding.Verdict{
		"a b c d": finding.Pass, "- | sub: a b c d": finding.Pass, "- | deep/er: a b c d": finding.Pass, "- | sub: a b c": finding.Fail, "- | sub: a b'' c d": finding.Fail,
	} {
		f.commit("V", "A", logs)
		u := history.Update{Ref: "refs/heads/topic", Old: f.id("U"), New: f.id("V"), Target: history.Tip{ID: f.id("A"), Name: "main"}}
		if r := gate.Push(context.Background(), f.h, u, f.opts); r.Verdict != want {
			t.Errorf("taken back to %s: %s %v", logs, r.Verdict, f.lines(r.Findings))
		}
	}
}

// A rule is off, or a warning.
func TestFlowRuleLevels(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "a' b")
	f.opts.Policy.Rules["append-only/modified"] = policy.Warning
	r := f.audit("B")
	f.want(r, `warning append-only/modified B from A: #0 task-a to #0 task-a; evidence "did a" to "did a!"`)
	if r.Verdict != finding.Pass {
		t.Errorf("a warning makes it %s", r.Verdict)
	}
	f.want(f.pending("A", "b"), "error append-only/deleted index from A: #0 task-a")
	f.opts.Policy.Rules["append-only/modified"] = policy.Off
	f.clean(f.audit("B"))
	f.commit("C", "", "a c")
	f.opts.Policy.Rules["append-only/reconciled-insertion"] = policy.Error
	f.want(f.pending("C", "a b c M1"), "error append-only/reconciled-insertion index from C: #1 task-b")
	f.opts.Policy.Mode = policy.Observe
	if r := f.pending("C", "a b c M1"); r.Verdict != finding.Fail || r.ExitStatus() != 0 {
		t.Errorf("observing: verdict %s, exit status %d", r.Verdict, r.ExitStatus())
	}
}

// An edit that is a warning by the policy does not hide what else keeps two
// tips apart.
//
//	A(a b c) - T
//	   \
//	    H(a' b c)
func TestFlowWarningsHideNoDivergence(t *testing.T) {
	for _, c := range []struct {
		target string
		want   finding.Verdict
	}{
		{"a b c", finding.Pass}, {"a b c t", finding.Fail}, {"a c b", finding.Fail}, {"a'' b c", finding.Fail},
	} {
		f := newFlow(t)
		f.opts.Policy.Rules["append-only/modified"] = policy.Warning
		f.commit("A", "", "a b c")
		f.commit("H", "A", "a' b c")
		f.commit("T", "A", c.target)
		if r := f.rangeOf("T", "H"); r.Verdict != c.want {
			t.Errorf("%s: verdict %s: %v", c.target, r.Verdict, f.lines(r.Findings))
		}
	}
}

// A redacted log moves, and an old branch is merged where it is now.
//
//	A(a b) - B(a b') - C(sub: a b') - M(sub: a b' c)
//	   \                             /
//	    D(a b c) -------------------+
func TestFlowWaivedModificationMoved(t *testing.T) {
	edit := `: #1 task-b to #1 task-b; evidence "did b" to "did b!"`
	f := newFlow(t)
	f.waive("append-only/modified", "b", "b'")
	f.commit("A", "", "a b")
	f.commit("B", "A", "a b'")
	f.commit("C", "B", "- | sub: a b'")
	f.commit("D", "A", "a b c")
	f.commit("M", "C D", "- | sub: a b' c")
	f.clean(f.audit("M"))
	f.waived(f.audit("M"), "error append-only/modified B from A"+edit)
	f.clean(f.pending("C D", "- | sub: a b' c"))
	// The move and the edit in one commit.
	f.clean(f.pending("A", "- | sub: a b'"))
	f.waived(f.pending("A", "- | sub: a b'"), "error append-only/modified index from A"+edit+" in sub/")
	f.want(f.pending("A", "- | sub: a b''"), "error append-only/log-deleted index from A")
}

// A waived edit accounts for nothing else that keeps two tips apart.
//
//	A(a b) - T(b a)
//	   \
//	    H(a' b)
func TestFlowWaivedEditHidesNoDivergence(t *testing.T) {
	f := newFlow(t)
	f.waive("append-only/modified", "a", "a'")
	f.commit("A", "", "a b")
	f.commit("H", "A", "a' b")
	f.commit("T", "A", "b a")
	f.clean(f.rangeOf("A", "H"))
	r := f.rangeOf("T", "H")
	f.want(r, "error divergence/concurrent-append H from T")
	if len(r.Findings) > 0 && !strings.Contains(r.Findings[0].Message, "the same entries in different orders") {
		t.Errorf("the message is %q", r.Findings[0].Message)
	}
}
