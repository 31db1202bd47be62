package gate_test

import (
	"context"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/small"
)

// mergeCheck predicts a merge of theirs into ours.
func (f *flow) mergeCheck(ours, theirs string) *finding.Report {
	return gate.MergeCheck(context.Background(), f.h, f.id(ours), f.id(theirs), ours, theirs, "", f.opts)
}

// says demands that one of a report's findings has each of these parts in its
// message or in its advice.
func (f *flow) says(r *finding.Report, parts ...string) {
	f.t.Helper()
	var all strings.Builder
	for _, x := range r.Findings {
		all.WriteString(x.Message + "\n" + x.Fix + "\n")
	}
	for _, part := range parts {
		if !strings.Contains(all.String(), part) {
			f.t.Errorf("nothing says %q:\n%s", part, &all)
		}
	}
}

// One side removes from the common past, the other writes code or nothing at all:
// git merges silently, and the loss is in the result.
//
//	A(a b) - Loss(…)
//	   \
//	    Code(a b)
func TestFlowPredictedLoss(t *testing.T) {
	for name, c := range map[string]struct{ logs, finding, words string }{
		"deleted":   {"a", "append-only/deleted S from A: #1 task-b", `on S, entry 2 ("task-b"`},
		"modified":  {"a b'", `append-only/modified S from A: #1 task-b to #1 task-b; evidence "did b" to "did b!"`, `on S, entry 2 ("task-b"`},
		"moved":     {"b a", "append-only/reordered S from A: #0 task-a to #1 task-a", "on S, entry 1"},
		"inserted":  {"a c b", "append-only/inserted S from A: #1 task-c", `on S, entry 2 ("task-c"`},
		"log gone":  {"-", "append-only/log-deleted S from A", "on S, the log with 2 entries is gone"},
		"no ledger": {"a b ?", "validate/yaml S from A", "on S, "},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlow(t)
			f.commit("A", "", "a b")
			f.commit("Code", "A", "a b")
			f.commit("S", "A", c.logs)
			for _, sides := range [][2]string{{"S", "Code"}, {"Code", "S"}, {"A", "S"}, {"S", "A"}} {
				r := f.mergeCheck(sides[0], sides[1])
				f.want(r, "error "+c.finding)
				f.says(r, c.words)
			}
		})
	}
}

// One side edits the common past, the other continues it: only what the one did
// is reported. If both continue it besides, that is reported too.
//
//	A(a b) - Gone(-)
//	   \ \ \
//	    \ \ Edits(a b') - EditsAndGoesOn(a b' c)
//	     GoesOn(a b d)
func TestFlowPredictedLossBesideWork(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("Gone", "A", "-")
	f.commit("Edits", "A", "a b'")
	f.commit("EditsAndGoesOn", "Edits", "a b' c")
	f.commit("GoesOn", "A", "a b d")
	f.want(f.mergeCheck("Gone", "GoesOn"), "error append-only/log-deleted Gone from A")
	f.want(f.mergeCheck("GoesOn", "Gone"), "error append-only/log-deleted Gone from A")
	edit := `; evidence "did b" to "did b!"`
	f.want(f.mergeCheck("Edits", "GoesOn"), "error append-only/modified Edits from A: #1 task-b to #1 task-b"+edit)
	f.want(f.mergeCheck("GoesOn", "Edits"), "error append-only/modified Edits from A: #1 task-b to #1 task-b"+edit)
	f.wantAny(f.mergeCheck("GoesOn", "EditsAndGoesOn"),
		"error append-only/modified EditsAndGoesOn from A: #1 task-b to #1 task-b"+edit,
		"error divergence/concurrent-append EditsAndGoesOn from GoesOn: #1 task-b")
	f.waive("append-only/modified", "b", "b'")
	f.clean(f.mergeCheck("Edits", "GoesOn"))
}

// After criss-cross merges there are two bases, and no entry is lost from
// either: what a merge made explicit is not an insertion.
//
//	A(a) - B(a b) - X(a b c M1)  - P(… e1)
//	  \         \ /
//	   C(a c) -- Y(a b c M1)
func TestFlowPredictedCrissCross(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a c")
	f.commit("X", "B C", "a b c M1")
	f.commit("Y", "C B", "a b c M1")
	f.commit("P", "X", "a b c M1 e1")
	f.commit("Lost", "X", "a b M1 e1")
	f.clean(f.mergeCheck("P", "Y"))
	f.clean(f.mergeCheck("Y", "P"))
	f.want(f.mergeCheck("Y", "Lost"), "error append-only/deleted Lost from C: #1 task-c")
}

// The first of the two is checked out when asking: the other is to be merged.
// In a range, the head merges the base.
func TestFlowPredictedAdvice(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a c")
	f.commit("D", "A", "a d b")
	f.says(f.mergeCheck("B", "C"), "`git merge --no-ff --no-commit C`, `small-hook reconcile`")
	f.says(f.mergeCheck("C", "B"), "`git merge --no-ff --no-commit B`, `small-hook reconcile`")
	f.says(f.mergeCheck("B", "D"), "`git merge --no-ff --no-commit D`, `small-hook reconcile`")
	f.says(gate.MergeCheck(t.Context(), f.h, f.id("B"), f.id("C"), "B", "HEAD", "", f.opts), "git merge --no-ff --no-commit "+f.id("C")[:7])
	f.says(f.rangeOf("B", "C"), "git merge --no-ff --no-commit "+f.id("B")[:7])
}

// Two plans that grew apart are a warning, before the merge too: no evidence is lost.
func TestFlowPredictedPlan(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	commit := func(name, title string) {
		tree := f.tree("a")
		tree[small.Plan.Path("")] = blobFile{data: strings.Replace(artifacts[small.Plan], "title: begin", "title: "+title, 1)}
		f.ids[name] = f.h.commit(tree, f.id("A"))
	}
	commit("B", "one")
	commit("C", "two")
	f.want(f.mergeCheck("B", "C"), "warning divergence/plan C from B in .small/plan.small.yml")
	f.want(f.rangeOf("B", "C"), "warning divergence/plan C from B in .small/plan.small.yml")
	f.clean(f.mergeCheck("A", "B"))
}
