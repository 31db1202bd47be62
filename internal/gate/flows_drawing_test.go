package gate_test

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

// What reports draw: the tip's logs, and the two sides of a fork.

// The tip's log is in the report entry by entry. An earlier commit's log,
// which is judged if every commit is, is there only by its length and head.
//
//	A(a) - B(a b)
func TestFlowTipLog(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.opts.EachCommit = true
	want := []string{"task-a", "task-b"}
	seen := 0
	for name, r := range map[string]*finding.Report{
		"audit": f.audit("B"), "range": f.rangeOf("A", "B"), "push": f.push("A", "B"), "pending": f.pending("A", "a b"),
	} {
		for _, l := range r.Ledgers {
			switch {
			case l.Entries == 1 && l.Log == nil:
			case l.Entries == 2 && len(l.Log) == 2:
				seen++
				for i := range l.Log {
					if got := l.Log[i]; got.TaskID != want[i] || got.Timestamp == "" || got.Line < 1 || i > 0 && got.Line <= l.Log[i-1].Line {
						t.Errorf("%s: entry %d is %+v", name, i, got)
					}
				}
			default:
				t.Errorf("%s: a ledger of %d entries lists %d", name, l.Entries, len(l.Log))
			}
		}
	}
	if seen < 4 {
		t.Errorf("%d logs were listed, want one in each report at least", seen)
	}
}

// Two refs with the same log list it once.
func TestCombineListsALogOnce(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	r := finding.Combine([]*finding.Report{f.audit("B"), f.push("A", "B"), f.audit("A")})
	var entries []int
	for _, l := range r.Ledgers {
		entries = append(entries, l.Entries)
	}
	if diff := gocmp.Diff([]int{2, 1}, entries); diff != "" {
		t.Errorf("ledgers differ (-want +got):\n%s", diff)
	}
}

// A fork names both sides, the target first.
//
//	A(a) - B(a b)
//	  \
//	   C(a c d)
func TestFlowSides(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a c d")
	r := f.rangeOf("B", "C")
	if len(r.Findings) != 1 || len(r.Findings[0].Sides) != 2 {
		t.Fatalf("findings: %+v", r.Findings)
	}
	var got []string
	for _, side := range r.Findings[0].Sides {
		got = append(got, side.Name)
		for i := range side.Entries {
			got = append(got, entryName(&side.Entries[i]))
		}
	}
	want := []string{f.id("B")[:12], "#1 task-b", f.id("C")[:12], "#1 task-c", "#2 task-d"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("sides differ (-want +got):\n%s", diff)
	}
}

// A log for drawing says which of its entries came with a merged branch, and which with the same one.
//
//	main    A(a) - B(a b) ---- D(a b c d M1) - E(… a1) ----- G(… a2 b2 M2)
//	           \              /                  \           /
//	branches    C(a c) - C2(a c d)                F(… b2) --+
func TestFlowBranchesOfALog(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a c")
	f.commit("I", "C", "a c d")
	f.commit("D", "B I", "a b c d M1")
	f.commit("E", "D", "a b c d M1 b1")
	f.commit("F", "E", "a b c d M1 b1 b2")
	f.commit("H", "E", "a b c d M1 b1 a2")
	f.commit("G", "H F", "a b c d M1 b1 a2 b2 M3")
	branches := func(r *finding.Report) string {
		t.Helper()
		var out []string
		for _, e := range r.Ledgers[len(r.Ledgers)-1].Log {
			if out = append(out, f.name(e.Branch, "-")); e.Reconciles != (e.TaskID == "meta/reconcile-merge") {
				t.Errorf("%s: whether it reconciles is %v", e.TaskID, e.Reconciles)
			}
		}
		return strings.Join(out, " ")
	}
	f.clean(f.audit("G"))
	if got, want := branches(f.audit("G")), "- - B B - - - H -"; got != want {
		t.Errorf("the entries came by %s, want %s", got, want)
	}
	// What came before the range is not known, and not drawn as a branch.
	if got, want := branches(f.rangeOf("E", "G")), "- - - - - - - H -"; got != want {
		t.Errorf("in a range the entries came by %s, want %s", got, want)
	}
}
