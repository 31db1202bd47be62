package gate_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Flows of a log as a file: gone, moved, unreadable, there again.

// A(a b) - B(no log) - C(…) - D
func TestFlowLogDeleted(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "-")
	f.commit("C", "B", "-")
	deleted := "error append-only/log-deleted B from A"
	f.want(f.audit("B"), deleted)
	f.want(f.audit("C"), deleted)
	f.want(f.rangeOf("A", "C"), deleted)
	f.want(f.push("A", "C"), deleted)
	f.want(f.pending("A", "-"), "error append-only/log-deleted index from A")
	f.clean(f.rangeOf("B", "C"))
	f.want(f.push("C", "A"))

	// A log that comes back is compared with what was there.
	f.want(f.pending("C", "a b"))
	f.want(f.pending("C", "a b c"))
	f.want(f.pending("C", "a' b"), `error append-only/modified index from C: #0 task-a to #0 task-a; evidence "did a" to "did a!"`)
	f.commit("D", "C", "x")
	f.wantAny(f.audit("D"), deleted, "error append-only/deleted D from C: #0 task-a", "error append-only/deleted D from C: #1 task-b")
	f.want(f.rangeOf("C", "D"), "error append-only/deleted D from C: #0 task-a", "error append-only/deleted D from C: #1 task-b")
}

// Deleting an empty log is reported too.
func TestFlowEmptyLogDeleted(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "")
	f.want(f.pending("A", "-"), "warning append-only/log-deleted index from A")
	f.clean(f.pending("A", "a"))
}

// Only the log is deleted, the other artifacts stay.
func TestFlowLogAloneDeleted(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	tree := f.tree("a b")
	delete(tree, small.Progress.Path(""))
	f.ids["B"] = f.h.commit(tree, f.id("A"))
	f.want(f.audit("B"), "error append-only/log-deleted B from A")
}

// A(a b) - B(sub: a b) - C(sub: a b c) - D(sub: a b c | x)
func TestFlowLogMoved(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "- | sub: a b")
	f.commit("C", "B", "- | sub: a b c")
	f.clean(f.audit("C"))
	f.clean(f.rangeOf("A", "C"))
	f.clean(f.pending("A", "- | sub: a b c"))
	// A new log at the old path has to continue the one that was there, unless
	// a waiver says that this log has ended.
	f.clean(f.pending("C", "a b x | sub: a b c"))
	f.want(f.pending("C", "x | sub: a b c"),
		"error append-only/deleted index from C: #0 task-a", "error append-only/deleted index from C: #1 task-b")
	f.want(f.pending("C", "a' b | sub: a b c"),
		`error append-only/modified index from C: #0 task-a to #0 task-a; evidence "did a" to "did a!"`)
	head := f.head("a b")
	f.opts.Policy.Waivers = []policy.Waiver{{Rule: "append-only/log-deleted", Edit: ledger.LogEnded, Path: logPath(""), From: &head, Reason: "moved"}}
	f.clean(f.pending("C", "x | sub: a b c"))
	f.opts.Policy.Waivers = nil
	// Neither of two copies is the log; of two equal logs, each is one.
	f.want(f.pending("A", "- | sub: a b | deep/er: a b"), "error append-only/log-deleted index from A")
	f.commit("T", "", "- | one: a b | two: a b")
	f.clean(f.pending("T", "- | sub: a b | deep/er: a b c"))
	// Two workspaces that are swapped have not moved.
	f.commit("S", "", "a | sub: b")
	f.wantAny(f.pending("S", "b | sub: a"), "error append-only/deleted index from S: #0 task-a", "error append-only/deleted index from S: #0 task-b in sub/")
	f.want(f.pending("C", "- | sub: a b' c"),
		`error append-only/modified index from C: #1 task-b to #1 task-b; evidence "did b" to "did b!" in sub/`)
	// Moving what was edited, or moving to where a log is, is not a move.
	f.want(f.pending("A", "- | sub: a' b"), "error append-only/log-deleted index from A")
	f.want(f.pending("A", "- | sub: b"), "error append-only/log-deleted index from A")
	f.commit("E", "", "a b | sub: a")
	f.want(f.pending("E", "- | sub: a b"), "error append-only/log-deleted index from E")
}

// Overwriting another log is not a move, however long ago the other log
// was added.
//
//	A(a) - B(a | sub: b) - C(sub: a)
func TestFlowMovedOntoAnotherLog(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a | sub: b")
	f.commit("C", "B", "- | sub: a")
	f.wantAny(f.audit("C"), "error append-only/log-deleted C from B", "error append-only/deleted C from B: #0 task-b in sub/")
	f.want(f.pending("C", "x | sub: a"), "error append-only/deleted index from C: #0 task-a")
}

// A branch that does not know of the move is merged.
//
//	A(a) - B(sub: a) ------ M(sub: a b)
//	  \                    /
//	   C(a b) ------------+
func TestFlowMoveMerged(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "- | sub: a")
	f.commit("C", "A", "a b")
	f.clean(f.pending("B C", "- | sub: a b"))
	f.clean(f.pending("C B", "- | sub: a b"))
	f.want(f.pending("B C", "- | sub: a"), "error append-only/log-deleted index from C")
}

// A(a b) - B(?) - C - D: what follows an unreadable log is compared with what
// was there before
func TestFlowUnreadable(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "a b ?")
	f.commit("C", "B", "a b' c")
	f.commit("D", "B", "a b c")
	f.commit("E", "B", "a b ?")
	f.commit("F", "E", "a c")
	unreadable := "error validate/yaml B from A"
	for _, rule := range []string{"validate/yaml", "validate/too-large"} {
		f.opts.Policy = policy.Default()
		f.opts.Policy.Rules = map[string]policy.Level{rule: policy.Off}
		f.want(f.audit("B"), unreadable) // else nothing that follows could be judged
	}
	f.opts.Policy = policy.Default()
	f.want(f.audit("B"), unreadable)
	f.want(f.audit("D"), unreadable)
	f.want(f.audit("E"), unreadable)
	f.want(f.rangeOf("A", "E"), unreadable)
	f.wantAny(f.audit("C"), unreadable, `error append-only/modified C from B: #1 task-b to #1 task-b; evidence "did b" to "did b!"`)
	f.wantAny(f.audit("F"), unreadable, "error append-only/deleted F from E: #1 task-b")
	f.clean(f.pending("B", "a b c"))
	f.want(f.pending("B", "a c"), "error append-only/deleted index from B: #1 task-b")
	f.want(f.pending("B", "-"), "error append-only/log-deleted index from B")
}

// Every way of not being a ledger is found in the middle of a history, with a
// good commit before and after it.
func TestFlowUnreadableKinds(t *testing.T) {
	for _, b := range breakages {
		f := newFlow(t)
		f.commit("A", "", "a b")
		tree := f.tree("a b")
		log := worldLog{entries: []logEntry{f.entry("a"), f.entry("b")}, breakage: &b}
		tree[logPath("")] = log.file()
		f.ids["B"] = f.h.commit(tree, f.id("A"))
		f.commit("C", "B", "a b c")
		f.commit("D", "B", "b c")
		if r := f.audit("C"); len(f.lines(r.Findings)) != 1 || !refuses(r) || r.Findings[0].Commit != f.id("B") {
			t.Errorf("%s: %v", b.name, f.lines(r.Findings))
		}
		if r := f.audit("B"); len(f.lines(r.Findings)) != 1 || !refuses(r) {
			t.Errorf("%s at the tip: %v", b.name, f.lines(r.Findings))
		}
		if r := f.audit("D"); len(f.lines(r.Findings)) != 2 {
			t.Errorf("%s, then a deletion: %v", b.name, f.lines(r.Findings))
		}
	}
}

// A merge takes the readable log of one side or the broken one of the other.
//
//	A(a) - B(a b) - M
//	  \            /
//	   C(?) ------+
func TestFlowUnreadableMerged(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "A", "a ?")
	f.commit("M", "B C", "a b")
	f.commit("N", "B C", "a ?")
	f.clean(f.pending("B C", "a b c"))
	f.want(f.audit("M"), "error validate/yaml C from A")
	f.want(f.audit("N"), "error validate/yaml C from A")
	f.want(f.pending("B C", "a ?"), "error validate/yaml index from B")
	f.want(f.pending("B C", "a c"), "error divergence/lost-entry index from B: #1 task-b")
}

// The same unreadable file comes from two sides, and only one of them had a log before it: that log is continued.
//
//	R(-) - B(a b) - C(a b ?) - M(a b ?)
//	  \                       /
//	   D(a b ?) -------------+
func TestFlowUnreadableOnBothSides(t *testing.T) {
	f := newFlow(t)
	f.commit("R", "", "-")
	f.commit("B", "R", "a b")
	f.commit("C", "B", "a b ?")
	f.commit("D", "R", "a b ?")
	for _, parents := range []string{"C D", "D C"} {
		f.commit("M", parents, "a b ?")
		f.clean(f.pending("M", "a b c"))
		f.want(f.pending("M", "a c"), "error append-only/deleted index from M: #1 task-b")
	}
}

// Several workspaces are judged each by itself.
func TestFlowSeveralWorkspaces(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b | sub: c d | deep/er: e")
	f.commit("B", "A", "a b c | sub: c' d | deep/er: e")
	f.want(f.audit("B"), `error append-only/modified B from A: #0 task-c to #0 task-c; evidence "did c" to "did c!" in sub/`)
	f.clean(f.pending("A", "a b | sub: c d e | deep/er: e f"))
	if r := f.pending("A", "a b | sub: c d e | deep/er: e"); r.Examined.Workspaces != 1 {
		t.Errorf("%d workspaces were looked at; one changed", r.Examined.Workspaces)
	}
	// What the policy excludes is not judged.
	f.commit("C", "", "a b | pkg/testdata/x: c d")
	f.clean(f.pending("C", "a b | pkg/testdata/x: d"))
}

// A conflict that is not resolved yet is in the index.
func TestFlowUnmerged(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	tree := f.tree("a b")
	log := tree[logPath("")]
	log.unmerged = true
	tree[logPath("")] = log
	f.h.stage(tree)
	f.want(gate.Pending(context.Background(), f.h, f.all("A"), f.opts), "error validate/yaml index from A")
}

// What is wrong in the middle of a history and right at its tip is found when
// each commit is judged.
func TestFlowEachCommit(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	tree := f.tree("a b")
	delete(tree, small.Intent.Path(""))
	f.ids["B"] = f.h.commit(tree, f.id("A"))
	f.commit("C", "B", "a b c")
	f.clean(f.audit("C"))
	f.clean(f.rangeOf("A", "C"))
	f.opts.EachCommit = true
	for _, r := range []*finding.Report{f.audit("C"), f.rangeOf("A", "C")} {
		if len(r.Findings) != 1 || r.Findings[0].Rule != "validate/missing-artifact" || r.Findings[0].Commit != f.id("B") {
			t.Errorf("findings %+v", r.Findings)
		}
	}
}

// A workspace is copied, and then moves: each commit is sound, and a push of both
// at once is judged like a push of each.
//
//	A(a) - B(a b | sub: a c) - C(sub: a c | deep/er: a b)
func TestFlowCopiedAndMoved(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b | sub: a c")
	f.commit("C", "B", "- | sub: a c | deep/er: a b")
	f.clean(f.audit("C"))
	f.clean(f.rangeOf("A", "C"))
	f.clean(f.push("A", "C"))
	f.commit("D", "A", "- | sub: a c | deep/er: a b")
	f.want(f.push("A", "D"), "error append-only/log-deleted D from A")
}

// A merge of unrelated histories has another log at the log's path. Its edges say
// that nothing is lost, and the branch that it is to go to has the last word.
//
//	M(a b)   O(c d)
//	    \     /
//	     X(c d | sub: a b)
func TestFlowUnrelatedMergeTakesPlace(t *testing.T) {
	f := newFlow(t)
	f.commit("M", "", "a b")
	f.commit("O", "", "c d")
	f.commit("X", "M O", "c d | sub: a b")
	f.commit("Y", "M O", "a b | sub: c d")
	f.clean(f.audit("X"))
	f.clean(f.rangeOf("M", "Y"))
	f.clean(f.push("M", "Y"))
	for _, r := range []*finding.Report{f.rangeOf("M", "X"), f.push("M", "X")} {
		if r.Verdict != finding.Fail {
			t.Errorf("another log at the target's path: %s", r.Verdict)
		}
	}
}

// A forced push replaces a tip that has no log: the new log has to continue the
// last one that was there.
//
//	A(a) - B(a b) - C(-)     A - D(a c)
func TestFlowForcedOverNoLog(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "B", "-")
	f.commit("D", "A", "a c")
	f.commit("E", "A", "a b c")
	f.want(f.push("C", "D"), "error append-only/deleted D from C: #1 task-b")
	f.clean(f.push("C", "E"))
}

// readHistory counts what is read of a history.
type readHistory struct {
	*memoryHistory
	commits, edges, blobs int
}

func (h *readHistory) Commits(ctx context.Context, include, exclude []string) ([]history.Commit, error) {
	out, err := h.memoryHistory.Commits(ctx, include, exclude)
	h.commits += len(out)
	return out, err
}

func (h *readHistory) Diff(ctx context.Context, edges []history.Edge, f history.Filter) ([][]history.Change, error) {
	h.edges += len(edges)
	return h.memoryHistory.Diff(ctx, edges, f)
}

func (h *readHistory) Blob(ctx context.Context, object string, limit int64) (history.Blob, error) {
	h.blobs++
	return h.memoryHistory.Blob(ctx, object, limit)
}

// Earlier logs at a path are looked up once for all paths and commits: a
// workspace that moves back and forth, and a commit that adds many workspaces to
// a long history, read each commit at most twice.
func TestEarlierLogsAreFoundInOnePass(t *testing.T) {
	const commits, workspaces = 200, 50
	f := newFlow(t)
	h := &readHistory{memoryHistory: f.h}
	var id string
	var parents []string
	log := ""
	for i := range commits {
		log += fmt.Sprintf(" a%d", i)
		id = f.h.commit(f.tree([]string{"- | one:", "- | two:"}[i%2]+log), parents...)
		parents = []string{id}
	}
	for name, judge := range map[string]func() *finding.Report{
		"audit of moves": func() *finding.Report { return gate.Audit(t.Context(), h, id, f.opts) },
		"range of moves": func() *finding.Report {
			return gate.Range(t.Context(), h, f.h.order[commits/2], id, f.opts)
		},
		"many workspaces": func() *finding.Report {
			tree := f.tree("- | one:" + log)
			for i := range workspaces {
				for path, file := range f.tree(fmt.Sprintf("- | w%d: a", i)) {
					tree[path] = file
				}
			}
			last := f.h.commit(tree, id)
			return gate.Range(t.Context(), h, id, last, f.opts)
		},
	} {
		h.commits, h.edges, h.blobs = 0, 0, 0
		if r := judge(); r.Verdict == finding.Error {
			t.Fatal(r.Failure)
		}
		if most := 3*commits + 10; h.commits > most || h.edges > most || h.blobs > 4*commits+10*workspaces {
			t.Errorf("%s: %d commits listed, %d edges compared, %d blobs read", name, h.commits, h.edges, h.blobs)
		}
	}
}
