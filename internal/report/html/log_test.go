package html

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

// at is a time some minutes after nine.
func at(minute int) string {
	return time.Date(2026, 3, 1, 9, minute, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

// listed lists a log's rows: what each shows, and where it links.
func listed(t *testing.T, r *finding.Report, l finding.LedgerState) []string {
	t.Helper()
	r.Ledgers = []finding.LedgerState{l}
	section := pageOf(t, r).logOf(&r.Ledgers[0], 1)
	var out []string
	for _, row := range section.Rows {
		line := strings.Join([]string{row.ID, row.Class, row.Number, row.Task, row.Time, row.Run}, "|")
		for _, f := range row.Findings {
			line += fmt.Sprintf(" [%s](%s)", f.Words, f.Href)
		}
		out = append(out, strings.TrimSpace(line+" "+strings.Join(row.Notes, ", ")))
	}
	if section.Open != strings.Contains(strings.Join(out, "\n"), "](#f") {
		t.Errorf("the table is open: %v", section.Open)
	}
	return out
}

// Each entry has a row, with its findings, and so has a deleted one.
func TestLogRows(t *testing.T) {
	const first, second = "1111111111111111", "2222"
	l := finding.LedgerState{Path: reporttest.Progress, Entries: 5, Log: []finding.LogEntry{
		{Line: 4, TaskID: "meta/init", Timestamp: at(0)},
		{Line: 7, TaskID: "a", Timestamp: at(30), ReplayID: first, Branch: "x"},
		{Line: 10, Timestamp: "soon", ReplayID: first, Reconciles: true},
		{Line: 13, TaskID: "c", Timestamp: at(300), ReplayID: second},
		{Line: 16, TaskID: "d", Timestamp: at(1600), ReplayID: first},
	}}
	ref := func(task, timestamp string) *finding.EntryRef {
		return &finding.EntryRef{Index: 3, TaskID: task, Timestamp: timestamp}
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
		"|gone|4|x|2026-03-01T16:30:00.000Z|no run [error 3: r/gone](#f3) no longer in this log",
		"l1e1||1|meta/init|2026-03-01T09:00:00.000Z|no run",
		"l1e2|warn|2|a|2026-03-01T09:30:00.000Z|111111111111… [warning 4: r/line](#f4) came by a merged branch",
		"l1e3||3|(none)|soon|111111111111… merge of branches",
		"l1e4|bad|4|c|2026-03-01T14:00:00.000Z|2222 [error 1: r/edited](#f1) [error 2: r/moved](#f2)",
		"l1e5|waived|5|d|2026-03-02T11:40:00.000Z|111111111111… [waived 7: r/waived](#f7)",
	}
	if diff := cmp.Diff(want, listed(t, r, l)); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
}

// A long log is cut, and the page says so; a log of which only the length is known has no rows.
func TestLongLogs(t *testing.T) {
	l := finding.LedgerState{Entries: 2001, Log: make([]finding.LogEntry, 2001)}
	got := pageOf(t, &finding.Report{}).logOf(&l, 1)
	if len(got.Rows) != 2000 || got.More != "… and 1 more entry" {
		t.Errorf("%d rows, %q", len(got.Rows), got.More)
	}
	if got := listed(t, &finding.Report{}, finding.LedgerState{Entries: 3}); got != nil {
		t.Errorf("%q", got)
	}
}
