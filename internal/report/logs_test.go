package report

import (
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

// ofLog is a finding about an entry of a log other than the protocol's; a deleted entry has no after.
func ofLog(noun, path string, index, line int, message string, gone bool, changes ...ledger.FieldChange) finding.Finding {
	ref := func(content string) *finding.EntryRef {
		return &finding.EntryRef{Index: index, Line: line, Digest: reporttest.Digest(noun, content), Compared: reporttest.Digest(noun, content), Noun: noun}
	}
	f := finding.Finding{
		Rule: "append-only/modified", Severity: finding.SeverityError, Stage: finding.StageHistory, Message: message, Path: path, Line: line, Column: 1,
		Commit: strings.Repeat("c", 40), Parent: strings.Repeat("b", 40), Entry: ref("before"), Changes: changes, Fix: "`small-hook restore :/" + path + "`",
	}
	f.EditFrom = f.Entry.Digest.String()
	if !gone {
		f.EntryAfter = ref("after")
		f.EditTo = f.EntryAfter.Digest.String()
	}
	return f
}

// logFindings is a finding for each kind of log, with the words that each format must show beside its path.
func logFindings() map[string]struct {
	finding finding.Finding
	words   []string
} {
	change := func(field, from, to string) ledger.FieldChange {
		return ledger.FieldChange{Field: field, From: from, To: to, HasFrom: true, HasTo: to != ""}
	}
	return map[string]struct {
		finding finding.Finding
		words   []string
	}{
		"line":      {ofLog(ledger.Line, "decisions.jsonl", 6, 8, "line 8 was modified", false, change("", "use sqlite", "use postgres")), []string{"ine 8", "use sqlite", "use postgres"}},
		"line gone": {ofLog(ledger.Line, "decisions.jsonl", 6, 8, "line 8 was deleted", true, change("", "use sqlite", "")), []string{"ine 8", "use sqlite"}},
		"item":      {ofLog(ledger.Item, "audit.yml", 2, 14, "item 3 was modified: who", false, change("who", "ada", "eve")), []string{"tem 3", "who", "ada", "eve"}},
		"file":      {ofLog(ledger.File, "db/7.sql", 0, 3, "the file was modified: line 3", false, change("line 3", "drop a", "drop b")), []string{"he file", "ine 3", "drop a", "drop b"}},
	}
}

// TestLogsOfEveryKind demands that each format names the file, the line, and the old and new content, and uses the right noun for an entry.
func TestLogsOfEveryKind(t *testing.T) {
	for name, c := range logFindings() {
		r := &finding.Report{Verdict: finding.Fail, Mode: "range", Findings: []finding.Finding{c.finding}}
		outputs := map[string]string{"agent": ForAgent(r, 8000)}
		for _, format := range Formats() {
			outputs[format] = render(t, format, r, Options{})
		}
		for format, out := range outputs {
			_, rest, found := strings.Cut(out, `"results"`) // SARIF's rules have examples
			if !found {
				rest = out
			}
			for _, words := range append([]string{c.finding.Path}, c.words...) {
				if !strings.Contains(rest, words) {
					t.Errorf("%s, %s: %q is not there:\n%s", name, format, words, rest)
				}
			}
			for _, words := range []string{"no task_id", "no timestamp", "entry 1", "entry 7", "(the entry)", "The entry", `"task_id"`, ".small/ must"} {
				if strings.Contains(rest, words) {
					t.Errorf("%s, %s: %q is there:\n%s", name, format, words, rest)
				}
			}
		}
		for format, line := range map[string]string{
			"sarif": `"startLine": `, "gitlab": `"begin": `, "github": ",line=", "json": `"line": `, "text": c.finding.Path + ":", "junit": c.finding.Path + ":",
		} {
			if want := line + map[string]string{ledger.Line: "8", ledger.Item: "14", ledger.File: "3"}[c.finding.Entry.Noun]; !strings.Contains(outputs[format], want) {
				t.Errorf("%s, %s: %q is not there:\n%s", name, format, want, outputs[format])
			}
		}
	}
}

// TestForkOfLines demands that the lines of two branches are called lines.
func TestForkOfLines(t *testing.T) {
	f := ofLog(ledger.Line, "a.log", 3, 4, "both branches added to the log", true)
	f.Sides = []finding.Side{{Name: "main", Entries: []finding.EntryRef{*f.Entry}}, {Name: "topic", Entries: []finding.EntryRef{*f.Entry}}}
	r := &finding.Report{Verdict: finding.Fail, Mode: "merge-check", Findings: []finding.Finding{f}}
	for _, format := range []string{"text", "markdown", "html"} {
		if out := render(t, format, r, Options{}); !strings.Contains(out, "line 4: ") || strings.Contains(out, "entry 4") {
			t.Errorf("%s:\n%s", format, out)
		}
	}
}
