package gate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/remedy"
)

// A merge that a CI system made of a branch and its target is in no clone: the branch merges the target itself.
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

// A commit that nobody else has is corrected in place, one that others have stays, and a person accepts what has landed. No fix undoes commits.
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
	f.says(f.rangeOf("A", "N"), "`small-hook restore --commit "+f.id("T")[:12]+"`; a correction")
	for _, others := range []history.Standing{history.Published, history.Tagged} {
		f.opts.Standings = standing(others, nil)
		r := f.rangeOf("A", "N")
		if others == history.Tagged {
			f.says(r, "A tag has this commit, so it stays. A maintainer accepts the edit: `small-hook waive ")
			continue
		}
		f.says(r, "Others may have this commit. If nobody has built on it: `small-hook restore --commit "+f.id("T")[:12]+" --pushed`, `git push --force-with-lease --force-if-includes`\n"+
			"Otherwise a maintainer accepts the edit: `small-hook waive ")
	}
	f.opts.Standings = standing(history.Landed, nil)
	r := f.rangeOf("A", "N")
	f.says(r, "Landed commits are never rewritten", "`small-hook baseline`")
	for _, x := range r.Findings {
		if strings.Contains(x.Fix, "reset") || strings.Contains(x.Fix, "force") {
			t.Error(x.Fix)
		}
	}
	f.opts.Standings = standing(history.Own, errors.New("no ref can be read"))
	if r := f.rangeOf("A", "N"); r.Verdict != finding.Error || r.Failure == nil {
		t.Errorf("without the standings: %s, %v", r.Verdict, r.Failure)
	}
	f.clean(f.rangeOf("A", "B")) // nothing asks
}

// A commit that others have is not rewritten for the sake of a later one that only this clone has.
//
//	A(a b) - B(a' b), pushed - C(a' b')
func TestFlowOwnAfterPushed(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "a' b")
	f.commit("C", "B", "a' b'")
	f.opts.Standings = func() (history.Standings, error) {
		return history.Standings{Of: map[string]history.Standing{f.id("B"): history.Published, f.id("C"): history.Own}}, nil
	}
	r := f.rangeOf("A", "C")
	if len(r.Findings) != 2 {
		t.Fatal(f.lines(r.Findings))
	}
	for _, x := range r.Findings {
		if want := "small-hook restore --commit " + x.Commit[:12]; !strings.Contains(x.Fix, want) {
			t.Errorf("%s in %s: %s; want %q", x.Rule, f.name(x.Commit, ""), x.Fix, want)
		}
	}
}

func standing(s history.Standing, err error) func() (history.Standings, error) {
	return func() (history.Standings, error) { return history.Standings{Rest: s}, err }
}

// Advice alone has nothing to type: a branch that has diverged from the default branch, as a release branch does for good, is not told to
// merge it. The commit that brought the files' state is not named if nobody has looked for it.
//
//	A(a) - B(a b)
//	  \
//	   C(a c)
func TestFlowAdvice(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a c")
	r := gate.Push(t.Context(), f.h, history.Update{Ref: "refs/heads/release", Old: f.id("A"), New: f.id("C"), Target: history.Tip{ID: f.id("B"), Name: "main"}}, f.opts)
	f.want(r, "warning divergence/concurrent-append C from B: #1 task-c")
	for _, x := range r.Findings {
		if x.Fix == "" || strings.Contains(x.Fix, "`") {
			t.Errorf("%s: %s", x.Rule, x.Fix)
		}
	}
}

// What only this clone has is rewritten if it is one of the last twenty commits, and all of it by one command; what is deeper is accepted as it is.
//
//	A(a b) - B(a' b) - C(a' b') - c0 - … - c24
func TestFlowDeep(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "a' b")
	f.commit("C", "B", "a' b'")
	last, logs := "C", "a' b'"
	for i := range 25 {
		name := fmt.Sprintf("c%d", i)
		logs += fmt.Sprintf(" x%d", i)
		f.commit(name, last, logs)
		last = name
		r := f.audit(last)
		if len(r.Findings) != 2 {
			t.Fatalf("%+v", r.Findings)
		}
		if remedy.AcceptsPast(r.Findings[0].Fix) && !remedy.AcceptsPast(r.Findings[1].Fix) {
			t.Errorf("after %d commits the logs are accepted before a commit is rewritten: %+v", i+1, r.Findings)
		}
		for _, x := range r.Findings {
			want := "`small-hook restore --commit " + f.id("B")[:12] + "`"
			switch after := map[string]int{f.id("B"): i + 2, f.id("C"): i + 1}[x.Commit]; { // commits after it
			case after >= 20:
				want = "20 or more commits stand on this one. Have a person accept the logs as they are now; only later changes are then judged: `small-hook baseline`"
			case i+2 >= 20: // the first one is too deep
				want = "`small-hook restore --commit " + f.id("C")[:12] + "`"
			}
			if !strings.HasPrefix(x.Fix, want) {
				t.Errorf("after %d commits: %s\nwant %s", i+1, x.Fix, want)
			}
		}
	}
}
