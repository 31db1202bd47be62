package gate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// What a system has made of a branch and its target is in no clone: the branch merges the target itself.
//
//	A(a) - B(a b) - M(a b)
//	  \       ____/
//	   C(a c)
func TestFlowMergeResultAdvice(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a c")
	f.commit("M", "B C", "a b")
	r := gate.RangeInto(t.Context(), f.h, f.id("B"), f.id("C"), f.id("M"), f.opts)
	want := "`git fetch`, `git merge --no-ff --no-commit " + f.id("B")[:12] + "`, `small-hook reconcile`, `git commit --no-edit`, `git push`"
	for _, x := range r.Findings {
		if x.Rule == "divergence/lost-entry" && x.Fix == want {
			return
		}
	}
	t.Errorf("%+v", r.Findings)
}

// What has landed is not rewritten; what is published is taken back by a forced push; a commit that a merge brought is undone where it
// came to the branch.
//
//	A(a) - B(a d) - M(a' d) - N(a' d e)
//	  \            /
//	   T(a') ------
func TestFlowStandings(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a d")
	f.commit("T", "A", "a'")
	f.commit("M", "B T", "a' d")
	f.commit("N", "M", "a' d e")
	base := f.id("B")[:12]
	own := "`git merge-base --is-ancestor " + base + " HEAD && git reset --soft " + base + "`, `small-hook restore`, `git diff --cached --quiet || git commit -C " + f.id("N")[:12] + "`"
	f.says(f.rangeOf("A", "N"), own+"; all work")
	f.opts.Standing = standing(history.Published, nil)
	f.says(f.rangeOf("A", "N"), own+", `git push --force-with-lease --force-if-includes`; all work")
	f.opts.Standing = standing(history.Landed, nil)
	r := f.rangeOf("A", "N")
	f.says(r, "what has landed is never rewritten", "`small-hook baseline`")
	for _, x := range r.Findings {
		if strings.Contains(x.Fix, "reset") || strings.Contains(x.Fix, "force") {
			t.Error(x.Fix)
		}
	}
	f.opts.Standing = standing(history.Own, errors.New("no ref can be read"))
	if r := f.rangeOf("A", "N"); r.Verdict != finding.Error || r.Failure == nil {
		t.Errorf("without the standings: %s, %v", r.Verdict, r.Failure)
	}
	f.clean(f.rangeOf("A", "B")) // nothing asks
}

func standing(s history.Standing, err error) func(string) (history.Standing, error) {
	return func(string) (history.Standing, error) { return s, err }
}
