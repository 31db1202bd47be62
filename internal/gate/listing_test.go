package gate_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// A forced push from B to C: each has other words for an entry of main, in a
// commit that is known. Seen from B the edit is an error, seen from main a
// warning in the same words.
//
//	A(a b) - B(a b')
//	   \
//	    C(a b'')
func TestGravestOfEqualWords(t *testing.T) {
	for i := range 8 {
		f := newFlow(t)
		for range i { // other ids
			f.h.commit(fileTree{})
		}
		f.commit("A", "", "a b")
		f.commit("B", "A", "a b'")
		f.commit("C", "A", "a b''")
		u := history.Update{Old: f.id("B"), New: f.id("C"), Known: []string{f.id("C")}, Target: history.Tip{ID: f.id("A"), Name: "main"}}
		r := gate.Push(context.Background(), f.h, u, f.opts)
		if r.Verdict != finding.Fail || len(r.Findings) != 1 || r.Findings[0].Severity != finding.SeverityError {
			t.Errorf("B %.8s, A %.8s: %s, %+v", f.id("B"), f.id("A"), r.Verdict, f.lines(r.Findings))
		}
	}
}

// A report that combines two judgements keeps the gravest too.
func TestCombineKeepsTheGravest(t *testing.T) {
	for _, severities := range [][]finding.Severity{{finding.SeverityError, finding.SeverityWarning}, {finding.SeverityWarning, finding.SeverityError}} {
		var reports []*finding.Report
		for i, s := range severities {
			reports = append(reports, &finding.Report{Verdict: finding.Fail, Findings: []finding.Finding{
				{Rule: "append-only/modified", Message: "the same", Commit: "c", Parent: strconv.Itoa(i), Severity: s},
			}})
		}
		if r := finding.Combine(reports); r.Count() != (finding.Counts{Errors: 1}) {
			t.Errorf("%v: %+v", severities, r.Findings)
		}
	}
}

// TestWholeEntries: every field of a deleted or inserted entry is reported.
func TestWholeEntries(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b c")
	f.commit("B", "A", "a c")
	f.commit("C", "A", "a b d c")
	f.commit("D", "A", "a b c e")
	f.commit("E", "A", "a b c d")
	f.commit("M", "D E", "a b c e")
	for name, want := range map[string]string{
		"B": "append-only/deleted evidence: did b -> nothing; task_id: task-b -> nothing; timestamp: 2026-01-01T00:02:00.000Z -> nothing",
		"C": "append-only/inserted evidence: nothing -> did d; task_id: nothing -> task-d; timestamp: nothing -> 2026-01-01T00:04:00.000Z",
		"M": "divergence/lost-entry evidence: did d -> nothing; task_id: task-d -> nothing; timestamp: 2026-01-01T00:04:00.000Z -> nothing",
	} {
		r := f.rangeOf("A", name)
		if len(r.Findings) == 0 {
			t.Fatalf("%s: nothing found, %v", name, r.Failure)
		}
		if diff := gocmp.Diff(want, r.Findings[0].Rule+" "+told(r.Findings[0].Changes)); diff != "" {
			t.Errorf("%s (- expected, + got):\n%s", name, diff)
		}
	}
}

func told(changes []ledger.FieldChange) string {
	side := func(text string, there bool) string {
		if !there {
			return "nothing"
		}
		return text
	}
	var out []string
	for _, c := range changes {
		out = append(out, fmt.Sprintf("%s: %s -> %s", c.Field, side(c.From, c.HasFrom), side(c.To, c.HasTo)))
	}
	return strings.Join(out, "; ")
}

// TestEntriesInOrder: findings at one place are in the order of the entries.
func TestEntriesInOrder(t *testing.T) {
	h := newMemoryHistory()
	first := h.commit(fileTree{logPath(""): {data: tinyLog("a", 120)}})
	last := h.commit(fileTree{logPath(""): {data: tinyLog("", 0)}}, first)
	r := gate.Range(context.Background(), h, first, last, testOptions())
	var places []int
	for _, f := range r.Findings {
		if f.Rule == "append-only/deleted" {
			places = append(places, f.Entry.Index)
		}
	}
	if len(places) != 120 || !slices.IsSorted(places) {
		t.Errorf("%v", places)
	}
}

// tinyLog is a log of n entries that are as short as can be.
func tinyLog(name string, n int) string {
	var b strings.Builder
	b.WriteString("small_version: \"1.0.0\"\nowner: agent\nentries:\n")
	for i := range n {
		fmt.Fprintf(&b, "- %s%d\n", name, i)
	}
	if n == 0 {
		return strings.Replace(b.String(), "entries:", "entries: []", 1)
	}
	return b.String()
}

// TestUnlistedCount: what is not listed is counted, decides the verdict, and is
// found by its fingerprint.
func TestUnlistedCount(t *testing.T) {
	gittest.Long(t)
	const entries = 40_000
	h := newMemoryHistory()
	first := h.commit(fileTree{logPath(""): {data: tinyLog("a", entries)}})
	last := h.commit(fileTree{logPath(""): {data: tinyLog("", 0)}}, first)
	opts := testOptions()
	r := gate.Range(context.Background(), h, first, last, opts)
	count, listed := r.Count(), 0
	for _, f := range r.Findings {
		if f.Severity == finding.SeverityError {
			listed++
		}
	}
	if r.Verdict != finding.Fail || count.Errors < entries || listed < 10_000 || listed+r.More.Errors != count.Errors || r.More.Errors == 0 {
		t.Fatalf("%s, %+v, %d listed, %+v more", r.Verdict, count, listed, r.More)
	}

	// The last one is past what is listed.
	one := finding.Finding{Rule: "append-only/deleted", Path: logPath(""), EditFrom: entryDigestOf(t, tinyLog("a", entries), entries-1)}
	if slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Fingerprint() == one.Fingerprint() }) {
		t.Fatal("it is listed")
	}
	opts.Find = func(f *finding.Finding) bool { return f.Fingerprint() == one.Fingerprint() }
	found := gate.Range(context.Background(), h, first, last, opts)
	if len(found.Findings) != 1 || found.Findings[0].Fingerprint() != one.Fingerprint() || found.Count() != count {
		t.Errorf("%d findings of %+v", len(found.Findings), found.Count())
	}

	// A push of several refs lists no more, and counts all.
	both := finding.Combine([]*finding.Report{r, gate.Range(context.Background(), h, first, last, testOptions())})
	if both.Verdict != finding.Fail || len(both.Findings) > len(r.Findings) || both.Count().Errors < count.Errors {
		t.Errorf("%d findings of %+v", len(both.Findings), both.Count())
	}
}

func entryDigestOf(t *testing.T, log string, at int) string {
	t.Helper()
	l, problems := ledger.ReadLog([]byte(log), small.Limits{})
	if l == nil {
		t.Fatal(problems)
	}
	return l.Entries[at].Digest.String()
}

// A text of a finding is bounded too, and two that begin alike stay distinct.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	h := newMemoryHistory()
	text := func(end string) string {
		return "small_version: \"1.0.0\"\nowner: agent\nentries:\n- {task_id: task-1, timestamp: \"2026-01-01T00:00:00.000000001Z\", evidence: \"" + long + end + "\"}\n"
	}
	first := h.commit(fileTree{logPath(""): {data: text("a")}})
	last := h.commit(fileTree{logPath(""): {data: text("b")}}, first)
	r := gate.Range(context.Background(), h, first, last, testOptions())
	at := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == "append-only/modified" })
	if at < 0 {
		t.Fatalf("%+v", r.Findings)
	}
	c := r.Findings[at].Changes[0]
	if len(c.From) > 70_000 || len(c.To) > 70_000 || c.From == c.To || !strings.Contains(c.From, "… 983041 more bytes; sha256:") {
		t.Errorf("%d and %d bytes: %s", len(c.From), len(c.To), c.From[max(0, len(c.From)-120):])
	}
}

// BenchmarkManyFindings judges a range that deletes every entry of a log.
func BenchmarkManyFindings(b *testing.B) {
	for _, entries := range []int{1000, 100_000} {
		h := newMemoryHistory()
		first := h.commit(fileTree{logPath(""): {data: tinyLog("a", entries)}})
		last := h.commit(fileTree{logPath(""): {data: tinyLog("", 0)}}, first)
		b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
			for b.Loop() {
				if n := gate.Range(context.Background(), h, first, last, benchOptions).Count().Errors; n < entries {
					b.Fatalf("%d errors", n)
				}
			}
		})
	}
}
