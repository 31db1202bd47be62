package gate_test

import (
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

// Flows on one line of commits, and what they leave behind for branches.

// A(a) - B(a b) - C(a b c)
func TestFlowAppend(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a")
	f.commit("B", "A", "a b")
	f.commit("C", "B", "a b c")
	f.clean(f.audit("C"))
	f.clean(f.rangeOf("A", "C"))
	f.clean(f.push("A", "C"))
	f.clean(f.pending("C", "a b c d"))
	f.clean(f.pending("", "a b"))
}

// A(a b c) - B: one earlier entry is deleted, inserted or moved
func TestFlowRewrite(t *testing.T) {
	for _, c := range []struct {
		logs string
		want []string
	}{
		{"a' b c", []string{`error append-only/modified index from A: #0 task-a to #0 task-a; evidence "did a" to "did a!"`}},
		{"a b", []string{"error append-only/deleted index from A: #2 task-c"}},
		{"b c", []string{"error append-only/deleted index from A: #0 task-a"}},
		{"", []string{
			"error append-only/deleted index from A: #0 task-a",
			"error append-only/deleted index from A: #1 task-b",
			"error append-only/deleted index from A: #2 task-c",
		}},
		{"a x b c", []string{"error append-only/inserted index from A: #1 task-x"}},
		{"x a b c", []string{"error append-only/inserted index from A: #0 task-x"}},
		{"a c b", []string{"error append-only/reordered index from A: #1 task-b to #2 task-b"}},
		{"c a b", []string{"error append-only/reordered index from A: #2 task-c to #0 task-c"}},
		{"a x c", []string{"error append-only/deleted index from A: #1 task-b", "error append-only/inserted index from A: #1 task-x"}},
		{"a b' c d", []string{`error append-only/modified index from A: #1 task-b to #1 task-b; evidence "did b" to "did b!"`}},
		{"a x b' c", []string{
			"error append-only/inserted index from A: #1 task-x",
			`error append-only/modified index from A: #1 task-b to #2 task-b; evidence "did b" to "did b!"`,
		}},
		{"a b c a b c", nil},
		{"a a b c", []string{"error append-only/inserted index from A: #1 task-a"}},
	} {
		f := newFlow(t)
		f.commit("A", "", "a b c")
		t.Log(c.logs)
		f.want(f.pending("A", c.logs), c.want...)
	}
}

// A(a b) - B(a b') - C(a b) - D(a b”) - E(a b) - F(a b')
//
// What was edited and put back is found both times; a second, different edit
// is found again, and the first edit made once more is the first edit.
func TestFlowRestored(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("B", "A", "a b'")
	f.commit("C", "B", "a b")
	f.commit("D", "C", "a b''")
	f.commit("E", "D", "a b")
	f.commit("F", "E", "a b'")
	first := `error append-only/modified B from A: #1 task-b to #1 task-b; evidence "did b" to "did b!"`
	back := `error append-only/modified C from B: #1 task-b to #1 task-b; evidence "did b!" to "did b"`
	second := `error append-only/modified D from C: #1 task-b to #1 task-b; evidence "did b" to "did b!!"`
	backAgain := `error append-only/modified E from D: #1 task-b to #1 task-b; evidence "did b!!" to "did b"`
	f.wantAny(f.audit("C"), first, back)
	f.wantAny(f.audit("D"), first, back, second)
	f.wantAny(f.audit("F"), first, back, second, backAgain)
	f.wantAny(f.rangeOf("A", "C"), first, back)
	f.wantAny(f.push("A", "C"), first, back)
}

// A(a b c) - B(a~ b~ c~)
// A(a b c) - C(a b@ c)
func TestFlowKnownTools(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b c")
	f.commit("B", "A", "a~ b~ c~")
	f.commit("C", "A", "a b@ c")
	f.want(f.audit("B"),
		`error append-only/timestamp-migrated B from A: #0 task-a to #0 task-a; timestamp "2026-01-01T00:01:00.000Z" to "2026-01-01T00:01:00.000000001Z"`,
		`error append-only/timestamp-migrated B from A: #1 task-b to #1 task-b; timestamp "2026-01-01T00:02:00.000Z" to "2026-01-01T00:02:00.000000001Z"`,
		`error append-only/timestamp-migrated B from A: #2 task-c to #2 task-c; timestamp "2026-01-01T00:03:00.000Z" to "2026-01-01T00:03:00.000000001Z"`)
	f.want(f.audit("C"),
		`error append-only/task-reassigned C from A: #1 task-b to #1 meta/historical/task-b; task_id "task-b" to "meta/historical/task-b"`)
}

// A time that moves by a microsecond, a task that gets some other historical
// name, or a second change beside them, is an ordinary modification.
func TestFlowNearlyKnownTools(t *testing.T) {
	f := newFlow(t)
	f.words["b"] = f.entry("b")
	f.words["b"]["status"], f.words["b"]["notes"], f.words["b"]["test"] = "completed", "as planned", "it works"
	f.commit("A", "", "a b")
	moved, renamed, both := f.entry("b").clone(), f.entry("b").clone(), f.entry("b").clone()
	moved["timestamp"] = "2026-01-01T00:02:00.000001Z"
	renamed["task_id"] = "meta/historical/task-c"
	both["evidence"], both["timestamp"] = "did more", "2026-01-01T00:02:00.000000001Z"
	f.words["later"], f.words["renamed"], f.words["both"] = moved, renamed, both
	f.want(f.pending("A", "a later"),
		`error append-only/modified index from A: #1 task-b to #1 task-b; timestamp "2026-01-01T00:02:00.000Z" to "2026-01-01T00:02:00.000001Z"`)
	f.want(f.pending("A", "a renamed"),
		`error append-only/modified index from A: #1 task-b to #1 meta/historical/task-c; task_id "task-b" to "meta/historical/task-c"`)
	f.want(f.pending("A", "a both"),
		`error append-only/modified index from A: #1 task-b to #1 task-b; evidence "did b" to "did more"; timestamp "2026-01-01T00:02:00.000Z" to "2026-01-01T00:02:00.000000001Z"`)
}

// A(a c) - B(a b c M1): a backdated entry, made explicit; and things that
// look like it
func TestFlowExplicitInsertion(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a c")
	f.commit("B", "A", "a b c M1")
	f.commit("C", "B", "a b c M1 a1")
	f.want(f.audit("C"), "note append-only/reconciled-insertion B from A: #1 task-b")
	if r := f.audit("C"); r.Verdict != finding.Pass {
		t.Errorf("a warning makes it %s", r.Verdict)
	}
	f.want(f.pending("A", "a b c"), "error append-only/inserted index from A: #1 task-b")
	f.want(f.pending("A", "a b c m1"), "error append-only/inserted index from A: #1 task-b")
	f.want(f.pending("A", "a b M1 c"),
		"error append-only/inserted index from A: #1 task-b", "error append-only/inserted index from A: #2 meta/reconcile-merge")
	// The marker of an earlier resolution resolves nothing new.
	f.want(f.pending("B", "a b c d M1"), "error append-only/inserted index from B: #3 task-d")
	f.want(f.pending("B", "a b c d M1 M2"), "note append-only/reconciled-insertion index from B: #3 task-d")
	f.words["almost"] = f.entry("M1")
	f.words["almost"]["task_id"] = "meta/reconcile-merge "
	f.want(f.pending("A", "a b c almost"), "error append-only/inserted index from A: #1 task-b")
}

// A(a b) - B(a b, written differently) - C(a b c, again)
func TestFlowReformatted(t *testing.T) {
	for _, s := range []style{
		{quotes: singleQuotes}, {quotes: noQuotes}, {quotes: blockText}, {reversed: true}, {indented: true},
		{comments: true}, {crlf: true}, {flow: true}, {anchors: true}, {first: "# another comment"},
	} {
		f := newFlow(t)
		f.commit("A", "", "a b")
		f.style = s
		f.commit("B", "A", "a b")
		f.clean(f.pending("A", "a b c"))
		f.style = style{}
		f.commit("C", "B", "a b c")
		f.clean(f.audit("C"))
		f.want(f.pending("B", "a' b"), `error append-only/modified index from B: #0 task-a to #0 task-a; evidence "did a" to "did a!"`)
	}
}

// A(a) - B(a soon) - C(a soon late): an entry dated ahead is found where it is
// new, and nowhere else
func TestFlowFutureTimestamp(t *testing.T) {
	f := newFlow(t)
	f.words["soon"], f.words["late"] = f.entry("b"), f.entry("c")
	f.words["soon"]["timestamp"] = now.Add(5 * 60e9).Format("2006-01-02T15:04:05.000Z")
	f.words["late"]["timestamp"] = now.Add(5*60e9 + 2e6).Format("2006-01-02T15:04:05.000Z")
	f.commit("A", "", "a")
	f.commit("B", "A", "a soon")
	f.commit("C", "B", "a soon late")
	f.commit("D", "C", "a soon late")
	future := "error append-only/future-timestamp C from B: #2 task-c"
	f.clean(f.audit("B"))
	f.want(f.audit("D"), future)
	f.want(f.rangeOf("A", "D"), future)
	f.clean(f.rangeOf("C", "D"))

	// An entry at most a millisecond after one that is itself ahead is not to blame; nor is the one after it.
	f.words["next"], f.words["last"] = f.entry("n"), f.entry("o")
	f.words["next"]["timestamp"] = now.Add(5*60e9 + 3e6).Format("2006-01-02T15:04:05.000Z")
	f.words["last"]["timestamp"] = now.Add(5*60e9 + 4e6).Format("2006-01-02T15:04:05.000Z")
	f.clean(f.pending("C", "a soon late next last"))
	f.want(f.pending("B", "a soon late next"), "error append-only/future-timestamp index from B: #2 task-c", "error append-only/future-timestamp index from B: #3 task-n")
	f.want(f.pending("", "late"), "error append-only/future-timestamp index from nothing: #0 task-c")
	f.want(f.pending("A", "late a"),
		"error append-only/future-timestamp index from A: #0 task-c", "error append-only/inserted index from A: #0 task-c")
}

// A run that goes on after another began: r s r
func TestFlowInterleavedRuns(t *testing.T) {
	f := newFlow(t)
	run := func(word, id string) {
		e := f.entry(word)
		e["replayId"] = id + "3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f"
		f.words[word] = e
	}
	run("b", "11")
	run("c", "22")
	run("d", "11")
	f.commit("A", "", "a b c")
	f.commit("B", "A", "a b c d")
	f.clean(f.audit("A"))
	f.want(f.audit("B"), "warning divergence/interleaved-runs index from nothing: #3 task-d")
}
