package html

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/reporttest"

	"github.com/google/go-cmp/cmp"
)

// drawn lists a drawing's bands with their marks: the classes, what each stands for, and where it leads.
func drawn(bands []band) []string {
	var out []string
	for _, b := range bands {
		out = append(out, b.Class+" "+b.Name+": "+b.Note)
		for _, m := range b.Marks {
			line := fmt.Sprintf("  %s | %s %s", m.Class(), m.Title, m.Href)
			if m.Label != "" {
				line = "  [" + m.Label + "]" + line[1:]
			}
			out = append(out, strings.TrimRight(line, " "))
		}
	}
	return out
}

// at is a time some minutes after nine.
func at(minute int) string {
	return time.Date(2026, 3, 1, 9, minute, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

// drawnLog draws a log with a report's findings.
func drawnLog(t *testing.T, r *finding.Report, l finding.LedgerState) []string {
	t.Helper()
	r.Ledgers = []finding.LedgerState{l}
	return drawn(pageOf(t, r).logOf(&r.Ledgers[0], 1).Bands)
}

func TestDrawing(t *testing.T) {
	const first, second = "1111111111111111", "2222"
	l := finding.LedgerState{Path: reporttest.Progress, Entries: 5, Log: []finding.LogEntry{
		{Line: 4, TaskID: "meta/init", Timestamp: at(0)},
		{Line: 7, TaskID: "a", Timestamp: at(30), ReplayID: first},
		{Line: 10, TaskID: "b", Timestamp: "soon", ReplayID: first},
		{Line: 13, TaskID: "c", Timestamp: at(300), ReplayID: second},
		{Line: 16, TaskID: "d", Timestamp: at(1600), ReplayID: first},
	}}
	ref := func(task, timestamp string) *finding.EntryRef {
		return &finding.EntryRef{TaskID: task, Timestamp: timestamp}
	}
	r := &finding.Report{
		Verdict: finding.Fail, Examined: finding.Examined{Head: reporttest.Head},
		Findings: []finding.Finding{
			{Rule: "r/edited", Severity: finding.SeverityError, Path: reporttest.Progress, Entry: ref("c", at(300)), EntryAfter: ref("c", at(300))},
			{Rule: "r/moved", Severity: finding.SeverityError, Path: reporttest.Progress, Entry: ref("c", at(299)), EntryAfter: ref("c", at(300))},
			{Rule: "r/gone", Severity: finding.SeverityError, Path: reporttest.Progress, Entry: ref("x", at(450))},
			{Rule: "r/line", Severity: finding.SeverityWarning, Path: reporttest.Progress, Line: 8, Commit: reporttest.Head},
			{Rule: "r/before", Severity: finding.SeverityWarning, Path: reporttest.Progress, Line: 8, Commit: reporttest.Base},
			{Rule: "r/elsewhere", Severity: finding.SeverityWarning, Path: "other", Line: 8},
		},
		Waived: []finding.Finding{{Rule: "r/waived", Severity: finding.SeverityError, Path: reporttest.Progress, Entry: ref("d", at(1600))}},
	}
	want := []string{
		"lost no longer in this log: 1 entry",
		"  gone | error 3: r/gone; entry as it was, 1: x, 2026-03-01T16:30:00.000Z #f3",
		"run0 entries without a run: 1 entry, 2026-03-01 09:00",
		"  entry | entry 1: meta/init, 2026-03-01T09:00:00.000Z #l1e1",
		"run1 run 111111111111…: 2 entries, 2026-03-01 09:30",
		"  warn | warning 4: r/line; entry 2: a, 2026-03-01T09:30:00.000Z #f4",
		"  entry | entry 3: b, soon #l1e3",
		"run2 run 2222: 2 entries, 2026-03-01 14:00 to 2026-03-02 11:40; other runs among them",
		"  bad | error 1: r/edited and 1 more finding; entry 4: c, 2026-03-01T14:00:00.000Z #f1",
		"  waived run1 | waived finding 7: r/waived; entry 5: d, 2026-03-02T11:40:00.000Z, run 111111111111… #f7",
	}
	if diff := cmp.Diff(want, drawnLog(t, r, l)); diff != "" {
		t.Errorf("drawing differs (-want +got):\n%s", diff)
	}
}

// A branch that was merged runs below, from its first entry to the one that says that it was merged.
func TestDrawingOfMerges(t *testing.T) {
	l := finding.LedgerState{Log: []finding.LogEntry{
		{TaskID: "a"}, {TaskID: "b", Branch: "x"}, {TaskID: "c"}, {TaskID: "d", Branch: "x"}, {TaskID: "m", Reconciles: true}, {TaskID: "e"},
		{TaskID: "f", Branch: "y"}, {TaskID: "g"},
	}}
	var got []string
	for _, line := range drawnLog(t, &finding.Report{}, l)[1:] {
		class, _, _ := strings.Cut(strings.TrimSpace(line), " |")
		got = append(got, class)
	}
	want := []string{"entry", "entry side beside begins", "entry beside", "entry side beside", "merge beside ends", "entry", "entry side beside begins ends", "entry"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marks differ (-want +got):\n%s", diff)
	}
	var words []string
	for _, k := range pageOf(t, &finding.Report{}).logOf(&l, 1).Key {
		words = append(words, k.Words)
	}
	if diff := cmp.Diff([]string{"entry", "merge of branches", "below the line: came by a merged branch"}, words); diff != "" {
		t.Errorf("key differs (-want +got):\n%s", diff)
	}
}

func TestDrawingAtTheEdges(t *testing.T) {
	log := func(timestamps ...string) finding.LedgerState {
		l := finding.LedgerState{Log: []finding.LogEntry{}}
		for _, at := range timestamps {
			l.Log = append(l.Log, finding.LogEntry{Timestamp: at})
		}
		l.Entries = len(l.Log)
		return l
	}
	for _, tt := range []struct {
		name string
		log  finding.LedgerState
		want []string
	}{
		{"one", log("2026-03-01T09:00:00.5Z"), []string{
			"run0 entries without a run: 1 entry, 2026-03-01 09:00", "  entry | entry 1: (no task_id), 2026-03-01T09:00:00.5Z #l1e1",
		}},
		{"no times", log("", "x"), []string{
			"run0 entries without a run: 2 entries", "  entry | entry 1: (no task_id), (no timestamp) #l1e1", "  entry | entry 2: (no task_id), x #l1e2",
		}},
		{"all of time", log("0001-01-01T00:00:01Z", "9999-12-31T23:59:59.999999999Z"), []string{
			"run0 entries without a run: 2 entries, 0001-01-01 00:00 to 9999-12-31 23:59",
			"  entry | entry 1: (no task_id), 0001-01-01T00:00:01Z #l1e1", "  entry | entry 2: (no task_id), 9999-12-31T23:59:59.999999999Z #l1e2",
		}},
		{"empty", log(), nil},
		{"entries that are not known", finding.LedgerState{Entries: 3}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, drawnLog(t, &finding.Report{Verdict: finding.Pass}, tt.log)); diff != "" {
				t.Errorf("drawing differs (-want +got):\n%s", diff)
			}
		})
	}
}

// Of a log of many days each new day is labelled, if there is room; a log of very many entries has as many marks as fit, and
// so many runs share a band.
func TestDrawingOfLongLogs(t *testing.T) {
	count := func(n, runs int) (bands, marks, labels int) {
		l := finding.LedgerState{Entries: n}
		for i := range n {
			l.Log = append(l.Log, finding.LogEntry{Timestamp: at(i * 60), ReplayID: fmt.Sprint(i * runs / n)})
		}
		for _, b := range pageOf(t, &finding.Report{}).logOf(&l, 1).Bands {
			bands++
			marks += len(b.Marks)
			for _, m := range b.Marks {
				if m.Label != "" {
					labels++
				}
			}
		}
		return bands, marks, labels
	}
	for _, tt := range []struct{ n, runs, bands, marks, labels int }{
		{4, 1, 1, 4, 0}, {198, 1, 1, 198, 8}, {1206, 30, 30, 1206, 50}, {2000, 1000, 100, 2000, 75}, {100_000, 1, 1, 2000, 249},
	} {
		if bands, marks, labels := count(tt.n, tt.runs); bands != tt.bands || marks != tt.marks || labels != tt.labels {
			t.Errorf("%d entries in %d runs: %d bands, %d marks, %d labels; want %+v", tt.n, tt.runs, bands, marks, labels, tt)
		}
	}
}
