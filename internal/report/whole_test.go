package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// goneEntry is a report about one deleted or inserted entry.
func goneEntry(inserted bool) *finding.Report {
	f := finding.Finding{
		Rule: "append-only/deleted", Severity: finding.SeverityError, Stage: finding.StageHistory,
		Message: "entry 2 was deleted", Path: ".small/progress.small.yml", Line: 7, Column: 5,
		Entry: &finding.EntryRef{Index: 1, Line: 7, TaskID: "task-1", Timestamp: "2026-03-01T09:10:00Z"},
	}
	fields := []string{"task_id", "timestamp", "status", "command", "commit", "replayId", "agent_id", "verification", "next", "evidence", "notes"}
	for _, field := range fields {
		text := "what " + field + " says"
		if field == "notes" {
			text = "first line\nsecond line\nthird line\nfourth line\nfifth line\n" + strings.Repeat("long ", 60) + "end"
		}
		c := ledger.FieldChange{Field: field, From: text, HasFrom: true}
		if inserted {
			c = ledger.FieldChange{Field: field, To: text, HasTo: true}
		}
		f.Changes = append(f.Changes, c)
	}
	return &finding.Report{Mode: "range", Verdict: finding.Fail, Findings: []finding.Finding{f}}
}

// TestWholeEntry: a deleted or inserted entry is shown with all its fields.
func TestWholeEntry(t *testing.T) {
	for _, format := range []string{"text", "markdown", "html", "sarif"} {
		for _, inserted := range []bool{false, true} {
			out := render(t, format, goneEntry(inserted), Options{})
			for _, c := range goneEntry(false).Findings[0].Changes {
				for _, line := range strings.Split(c.From, "\n") {
					if !strings.Contains(out, line) {
						t.Errorf("%s lacks %q of %s:\n%s", format, line, c.Field, out)
					}
				}
			}
			sign := map[bool]string{false: "- ", true: "+ "}[inserted]
			if (format == "text" || format == "markdown") && !strings.Contains(out, sign+"evidence: what evidence says\n") {
				t.Errorf("%s marks no line with %q:\n%s", format, sign, out)
			}
		}
	}
	for _, inserted := range []bool{false, true} {
		var doc struct {
			Findings []struct{ Changes []map[string]any }
		}
		if err := json.Unmarshal([]byte(render(t, "json", goneEntry(inserted), Options{})), &doc); err != nil {
			t.Fatal(err)
		}
		changes := doc.Findings[0].Changes
		if len(changes) != 11 {
			t.Fatalf("%d changes", len(changes))
		}
		for _, c := range changes {
			if from, to := c["from"], c["to"]; (from == nil) != inserted || (to == nil) == inserted {
				t.Errorf("%v", c)
			}
		}
	}
}

// TestNotedCommand: no format cuts a command in a note, however long the path in it is.
func TestNotedCommand(t *testing.T) {
	path := strings.Repeat("folder/", 500) + "log"
	r := &finding.Report{Verdict: finding.Pass, Examined: finding.Examined{Notes: []string{"type `git add " + path + "`"}}}
	for _, format := range []string{"text", "markdown", "html", "junit", "sarif", "json"} {
		if out := render(t, format, r, Options{}); !strings.Contains(out, path) {
			t.Errorf("%s cuts the note's command:\n%s", format, out)
		}
	}
}

// TestUnlisted: every format says how many findings the report counts but does not list.
func TestUnlisted(t *testing.T) {
	gittest.Long(t)
	r := goneEntry(false)
	r.More = finding.Counts{Errors: 586_222, Warnings: 2, Waived: 1}
	r.Waived = []finding.Finding{{Rule: "append-only/deleted", Message: "excused", Reason: "known"}}
	for _, format := range Formats() {
		out := render(t, format, r, Options{})
		want := "586225 more findings (586222 errors, 2 warnings, 1 waived)"
		switch format {
		case "json":
			want = `"errors": 586222`
		case "jsonl":
			want = `"more":{"errors":586222,`
		case "markdown":
			out = strings.ReplaceAll(out, "\\", "")
		}
		if !strings.Contains(out, want) {
			t.Errorf("%s does not say %q:\n%s", format, want, out)
		}
	}
	if out := render(t, "text", r, Options{}); !strings.Contains(out, "rejected: 586223 errors, 2 warnings, 2 waived") {
		t.Errorf("the summary counts what is listed alone:\n%s", out)
	}
	if out := render(t, "json", goneEntry(false), Options{}); strings.Contains(out, `"more"`) {
		t.Errorf("nothing is left out:\n%s", out)
	}
	// A format that leaves out findings does not promise all of them elsewhere.
	// elsewhere.
	for i := range maxIssues + 1 {
		f := r.Findings[0]
		f.Message = fmt.Sprint(i)
		r.Findings = append(r.Findings, f)
	}
	for _, format := range Formats() {
		if out := render(t, format, r, Options{}); strings.Contains(out, content.SeeAll) {
			t.Errorf("%s says that json lists all", format)
		}
	}
}
