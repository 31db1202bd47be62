package report

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/small"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// TestGolden writes every sample in every format. A new format needs a golden
// of each; run the test with -update and read what it wrote.
func TestGolden(t *testing.T) {
	for _, format := range Formats() {
		for _, s := range samples() {
			t.Run(format+"/"+s.name, func(t *testing.T) {
				var out bytes.Buffer
				if err := Write(&out, format, s.report, Options{Version: "v1.2.3"}); err != nil {
					t.Fatal(err)
				}
				got := hideRules(hideFingerprints(out.String(), s.report))
				path := filepath.Join("testdata", s.name+"."+format)
				if *update {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatalf("%v (run the test with -update)", err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("%s differs (-want +got); if that is meant, run the test with -update:\n%s", path, diff)
				}
			})
		}
	}
}

// hideFingerprints replaces them, since what they cover is the gate's affair.
func hideFingerprints(out string, r *finding.Report) string {
	for i := range r.Findings {
		out = strings.ReplaceAll(out, r.Findings[i].Fingerprint(), "FINGERPRINT")
	}
	for i := range r.Waived {
		out = strings.ReplaceAll(out, r.Waived[i].Fingerprint(), "FINGERPRINT")
	}
	return out
}

// hideRules replaces SARIF's list of all rules and the places in it, which
// TestSARIFRules reads, and what every HTML page has: the style, its digest,
// the rules' explanations.
func hideRules(out string) string {
	out = sarifRuleIndex.ReplaceAllString(sarifRuleList.ReplaceAllString(out, "RULES"), `"ruleIndex": INDEX`)
	return htmlFixed.ReplaceAllString(out, "FIXED")
}

var htmlFixed = regexp.MustCompile(`(?s)<style>.*?</style>|content="default-src[^"]*"|<details>\n<summary>Why.*?</details>`)

var sarifRuleIndex = regexp.MustCompile(`"ruleIndex": \d+`)

var sarifRuleList = regexp.MustCompile(`(?s)\[\n {12}\{\n {14}"id": "validate/.*?\n {10}\]`)

func TestWriteErrors(t *testing.T) {
	t.Run("unknown format", func(t *testing.T) {
		var out bytes.Buffer
		err := Write(&out, "yaml", onePass(), Options{})
		if err == nil || !strings.Contains(err.Error(), `"yaml"`) {
			t.Fatalf("error = %v, want one that names the format", err)
		}
		for _, name := range Formats() {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("error %q does not name %s", err, name)
			}
		}
		if out.Len() > 0 {
			t.Errorf("wrote %q", out.String())
		}
	})
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			if err := Write(io.Discard, format, nil, Options{}); err == nil {
				t.Error("no error without a report")
			}
			broken := errors.New("no space left on device")
			if err := Write(writer(func([]byte) (int, error) { return 0, broken }), format, oneFail(), Options{}); !errors.Is(err, broken) {
				t.Errorf("error = %v, want %v", err, broken)
			}
			short := writer(func(p []byte) (int, error) { return len(p) - 1, nil })
			if err := Write(short, format, oneFail(), Options{}); !errors.Is(err, io.ErrShortWrite) {
				t.Errorf("error = %v, want %v", err, io.ErrShortWrite)
			}
		})
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestWriteIsDeterministicAndKeepsTheReport(t *testing.T) {
	for _, format := range Formats() {
		for _, s := range samples() {
			first := render(t, format, s.report, Options{})
			for range 8 {
				if again := render(t, format, s.report, Options{}); again != first {
					t.Fatalf("%s of %s differs between two runs", format, s.name)
				}
			}
		}
	}
}

func render(t testing.TB, format string, r *finding.Report, opts Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, format, r, opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

type sample struct {
	name   string
	report *finding.Report
}

func samples() []sample {
	return []sample{
		{"none", onePass()},
		{"one", oneFail()},
		{"many", many()},
		{"failure", failed()},
		{"hostile", hostile("a\x1b[31m\x00\n::error::x ##[group] ##vso[x] \u202e\u200b\u2028\u009b\xff ::stop-commands::t")},
	}
}

const (
	progress = ".small/progress.small.yml"
	base     = "eeca68fe0123456789abcdef0123456789abcdef"
	head     = "1c8dd2390123456789abcdef0123456789abcdef"
)

func examined() finding.Examined {
	return finding.Examined{Commits: 16, Workspaces: 1, Base: base, Head: head, Policy: "HEAD", Reader: "git"}
}

func onePass() *finding.Report {
	return &finding.Report{
		Mode: "range", Verdict: finding.Pass, Examined: examined(),
		Ledgers: []finding.LedgerState{{Path: progress, Entries: 36, Head: digest("head"), Log: log(36)}},
	}
}

// log has n entries of three runs; the first two belong to none.
func log(n int) []finding.LogEntry {
	out := make([]finding.LogEntry, n)
	for i := range out {
		e := entry(i, 4+5*i, "")
		out[i] = finding.LogEntry{Line: e.Line, TaskID: e.TaskID, Timestamp: e.Timestamp}
		if i > 1 {
			out[i].ReplayID = strings.Repeat(fmt.Sprint(i%3), 64)
		}
	}
	return out
}

func oneFail() *finding.Report {
	r := onePass()
	r.Mode, r.Verdict = "audit", finding.Fail
	r.Findings = []finding.Finding{modified(0, 4,
		ledger.FieldChange{Field: "notes", From: "all tests pass", To: "all tests passed", HasFrom: true, HasTo: true})}
	return r
}

func modified(index, line int, changes ...ledger.FieldChange) finding.Finding {
	before, after := entry(index, line, "old"), entry(index, line, "new")
	return finding.Finding{
		Rule: "append-only/modified", Severity: finding.SeverityError, Stage: finding.StageHistory,
		Message: fmt.Sprintf("entry %d was changed after it was recorded", index+1),
		Path:    progress, Line: line + 2, Column: 5, Commit: head, Parent: base,
		Entry: before, EntryAfter: after, Changes: changes,
		EditFrom: before.Digest.String(), EditTo: after.Digest.String(),
		Fix: "git show " + base[:12] + ":" + progress + " shows the entry as it was; restore it and append a correcting entry",
	}
}

func entry(index, line int, content string) *finding.EntryRef {
	return &finding.EntryRef{
		Index: index, Line: line, TaskID: fmt.Sprintf("task-%d", index),
		Timestamp: fmt.Sprintf("2026-01-02T03:04:%02d.000000000Z", index%60), Digest: digest(content, index),
	}
}

func digest(parts ...any) small.Digest { return sha256.Sum256([]byte(fmt.Sprint(parts...))) }

// many has each kind of finding once, and one kind often.
func many() *finding.Report {
	both := func(field, from, to string) ledger.FieldChange {
		return ledger.FieldChange{Field: field, From: from, To: to, HasFrom: true, HasTo: true}
	}
	long := strings.Repeat("the quick brown fox ", 12)
	r := oneFail()
	r.Strict, r.Examined.Policy = true, "built-in defaults"
	r.Findings = []finding.Finding{
		{Rule: "config/changed", Severity: finding.SeverityWarning, Stage: finding.StagePolicy, Message: "this change edits the policy",
			Path: ".small-gate.yml", Line: 3, Column: 1, Commit: head, Parent: base},
		modified(0, 4, both("evidence", "\tgo test ./...\tok", "    go test ./...    ok")),
		modified(1, 9, both("evidence", long+"jumps over the lazy dog, "+long, long+"jumped over the lazy dog, "+long),
			both("verification", "one\ntwo\nthree\nfour", "one\nzwei\nzwei und halb\nthree\nfour"),
			ledger.FieldChange{Field: "test", From: `{"name":"unit"}`, HasFrom: true},
			ledger.FieldChange{Field: "link", To: "https://example.com/run/1", HasTo: true}),
		modified(2, 14, both("timestamp", "2026-01-02T03:04:02Z", "2026-01-02T03:04:02.000000000Z")),
	}
	for i := 3; i < 20; i++ {
		r.Findings = append(r.Findings, modified(i, 4+5*i, both("notes", "done", "done.")))
	}
	moved := entry(22, 120, "moved")
	r.Findings = append(r.Findings,
		finding.Finding{Rule: "append-only/reordered", Severity: finding.SeverityError, Stage: finding.StageHistory, Message: "entry 21 stands elsewhere now",
			Path: progress, Line: 120, Column: 5, Parent: head, Entry: entry(20, 104, "moved"), EntryAfter: moved,
			Fix: "put the entries back in their order:\n  git checkout HEAD -- .small/progress.small.yml\nthen append yours"},
		finding.Finding{Rule: "append-only/inserted", Severity: finding.SeverityError, Stage: finding.StageHistory, Message: "an entry was put before older ones",
			Path: progress, Line: 130, Column: 5, Commit: head, Parent: base, EntryAfter: &finding.EntryRef{Index: 4, Line: 130}},
		finding.Finding{Rule: "validate/missing-artifact", Severity: finding.SeverityError, Stage: finding.StageValidate, Message: "the intent is missing",
			Path: "pkg/ünïcode name/.small/intent.small.yml", Fix: "restore or create it"},
		finding.Finding{Rule: "divergence/run", Severity: finding.SeverityError, Stage: finding.StageHistory, Message: "both sides started a run"},
	)
	r.Findings = append(r.Findings, forked())
	waived := modified(30, 200, both("notes", "token abc", "token removed"))
	waived.Reason = "redacted before the release"
	r.Waived = []finding.Finding{waived}
	return r
}

// forked is a finding about two branches.
func forked() finding.Finding {
	f := finding.Finding{
		Rule: "divergence/concurrent-append", Severity: finding.SeverityError, Stage: finding.StageHistory,
		Message: "both branches recorded work since they parted", Path: "fork/" + progress, Line: 9, Column: 5, Commit: head, Parent: base,
		Entry: entry(7, 9, "fork"), EditFrom: digest("ours").String(), EditTo: digest("theirs").String(),
		Common: finding.Common{Count: 7, Last: []finding.EntryRef{*entry(6, 8, "meta/init")}},
		Sides:  []finding.Side{{Name: base[:12], Entries: []finding.EntryRef{*entry(7, 9, "a")}}, {Name: head[:12]}},
		Fix:    "git merge " + base[:12],
	}
	for i := range 7 {
		f.Sides[1].Entries = append(f.Sides[1].Entries, *entry(7+i, 9+3*i, "b"))
	}
	return f
}

func failed() *finding.Report {
	return &finding.Report{
		Mode: "range", Verdict: finding.Error, Examined: finding.Examined{Reader: "git"},
		Failure: &failure.Error{
			Message: "the clone is shallow and does not hold commit " + base,
			Remedy:  "fetch the rest:\n  git fetch --unshallow\nor in the workflow, under actions/checkout:\n  fetch-depth: 0",
			Err:     errors.New("not shown"),
		},
	}
}

// hostile has the text in every field that can hold text.
func hostile(s string) *finding.Report {
	ref := &finding.EntryRef{Index: 1, Line: 2, TaskID: s, Timestamp: s, Digest: digest(s)}
	f := finding.Finding{
		Rule: s, Severity: finding.SeverityError, Stage: finding.Stage(s), Message: s, Path: s, Line: 3, Column: 4, Commit: s, Parent: s,
		Entry: ref, EntryAfter: ref, Fix: s, Reason: s,
		Changes: []ledger.FieldChange{
			{Field: s, From: s, To: "x" + s, HasFrom: true, HasTo: true},
			{Field: s, From: s + "a\nb", To: s + "\nb\r\n", HasFrom: true, HasTo: true},
			{Field: s, From: s + " ", To: s + "\t", HasFrom: true, HasTo: true},
			{Field: s, From: s, HasFrom: true},
			{Field: s, To: s, HasTo: true},
		},
		Common: finding.Common{Count: 1, Last: []finding.EntryRef{*ref}},
		Sides:  []finding.Side{{Name: s, Entries: []finding.EntryRef{*ref}}, {Name: s, Entries: []finding.EntryRef{*ref, *ref}}},
	}
	short := f
	short.Severity, short.Line, short.Entry = finding.SeverityWarning, 0, nil
	return &finding.Report{
		Mode: s, Verdict: finding.Error, Examined: finding.Examined{Base: s, Head: s, Policy: s, Reader: s, Source: s, Notes: []string{s}},
		Ledgers: []finding.LedgerState{{Path: s, Head: digest(s), Log: []finding.LogEntry{
			{Line: 1, TaskID: s, Timestamp: s, ReplayID: s}, {Line: 3, TaskID: s, Timestamp: "2026-01-02T03:04:05.6Z"},
		}}},
		Findings: []finding.Finding{f, short}, Waived: []finding.Finding{f},
		Failure: &failure.Error{Message: s, Remedy: s},
	}
}
