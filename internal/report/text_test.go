package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

func TestQuiet(t *testing.T) {
	warned := reporttest.OnePass()
	warned.Findings = []finding.Finding{{Rule: "lint/duplicate-id", Severity: finding.SeverityWarning, Message: "twice", Path: "p", Line: 1, Column: 1}}
	waived := reporttest.OnePass()
	waived.Waived = reporttest.OneFail().Findings
	noVerdict := reporttest.OnePass()
	noVerdict.Verdict = ""
	contradictory := reporttest.OnePass()
	contradictory.Failure = reporttest.Failed().Failure
	observed := reporttest.OneFail()
	observed.Observe = true
	for _, tt := range []struct {
		name   string
		report *finding.Report
		silent bool
	}{
		{"pass", reporttest.OnePass(), true},
		{"pass with a waived finding", waived, true},
		{"pass with a warning", warned, false},
		{"fail", reporttest.OneFail(), false},
		{"fail, observed", observed, false},
		{"error", reporttest.Failed(), false},
		{"no verdict", noVerdict, false},
		{"pass with a failure", contradictory, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := render(t, "text", tt.report, Options{Quiet: true})
			if (out == "") != tt.silent {
				t.Errorf("silent = %v, want %v; output:\n%s", out == "", tt.silent, out)
			}
			if loud := render(t, "text", tt.report, Options{}); loud == "" {
				t.Error("nothing was written without Quiet")
			}
			if render(t, "json", tt.report, Options{Quiet: true}) == "" {
				t.Error("Quiet silenced json")
			}
		})
	}
}

func TestSummary(t *testing.T) {
	fail := func(change func(*finding.Report)) *finding.Report {
		r := reporttest.OneFail()
		change(r)
		return r
	}
	for _, tt := range []struct {
		name   string
		report *finding.Report
		want   string
	}{
		{"pass", reporttest.OnePass(), "passed: 0 errors, 0 warnings; examined 16 commits and 1 workspace"},
		{"fail", reporttest.OneFail(), "rejected: 1 error, 0 warnings; examined 16 commits and 1 workspace"},
		{"nothing to examine", &finding.Report{Mode: "range", Verdict: finding.Pass}, "passed: 0 errors, 0 warnings; examined 0 commits and 0 workspaces"},
		{"check", &finding.Report{Mode: "check", Verdict: finding.Pass, Examined: finding.Examined{Workspaces: 2}}, "passed: 0 errors, 0 warnings; examined 2 workspaces"},
		{"observed", fail(func(r *finding.Report) { r.Observe = true }),
			"would be rejected (mode: observe): 1 error, 0 warnings; examined 16 commits and 1 workspace"},
		{"waived", fail(func(r *finding.Report) { r.Waived = r.Findings }), "rejected: 1 error, 0 warnings, 1 waived; examined 16 commits and 1 workspace"},
		{"no policy", fail(func(r *finding.Report) { r.Examined.Policy = "built-in defaults" }),
			"rejected: 1 error, 0 warnings; examined 16 commits and 1 workspace"},
		{"no policy in HEAD", fail(func(r *finding.Report) { r.Examined.Policy = "built-in defaults (no .small-gate.yml in HEAD)" }),
			"rejected: 1 error, 0 warnings; examined 16 commits and 1 workspace"},
		{"no policy in a named commit", fail(func(r *finding.Report) {
			r.Mode, r.Examined.Policy = "range", "built-in defaults (no .small-gate.yml in main)"
		}),
			"rejected: 1 error, 0 warnings; examined 16 commits and 1 workspace"},
		{"policy", fail(func(r *finding.Report) { r.Mode, r.Examined.Policy = "range", "main" }),
			"rejected: 1 error, 0 warnings; examined 16 commits and 1 workspace; configuration: main"},
		{"no policy in another branch", fail(func(r *finding.Report) {
			r.Mode, r.Examined.Policy = "pre-push", "built-in defaults (no .small-gate.yml in main)"
		}),
			"rejected: 1 error, 0 warnings; examined 16 commits and 1 workspace; configuration: no .small-gate.yml in main"},
		{"push", fail(func(r *finding.Report) { r.Examined.Source = "standard input" }),
			"rejected: 1 error, 0 warnings; examined 16 commits and 1 workspace; refs from standard input"},
		{"error with findings", fail(func(r *finding.Report) { r.Verdict, r.Failure = finding.Error, reporttest.Failed().Failure }),
			"incomplete: 1 error, 0 warnings; examined 16 commits and 1 workspace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := strings.Split(strings.TrimSuffix(render(t, "text", tt.report, Options{}), "\n"), "\n")
			if got := lines[len(lines)-1]; got != tt.want {
				t.Errorf("summary = %q\nwant      %q", got, tt.want)
			}
		})
	}
}

// Outcome 2 has a message even if the caller forgot it.
func TestErrorWithoutFailure(t *testing.T) {
	for _, verdict := range []finding.Verdict{finding.Error, "", "passed"} {
		r := &finding.Report{Mode: "check", Verdict: verdict}
		out := render(t, "text", r, Options{Quiet: true})
		if !strings.HasPrefix(out, "small-hook: cannot judge: ") || strings.Contains(out, "passed:") {
			t.Errorf("verdict %q gives:\n%s", verdict, out)
		}
	}
}

func TestTextIsBounded(t *testing.T) {
	gittest.Long(t)
	const n = 10_000
	long := strings.Repeat("long ", 10_000)
	manyLines := strings.Repeat(long+"\n", 20)
	var changes []ledger.FieldChange
	for i := range 100 {
		changes = append(changes, ledger.FieldChange{Field: long, From: long, To: fmt.Sprint(i, long), HasFrom: true, HasTo: true})
	}
	for _, tt := range []struct {
		name   string
		change func(f *finding.Finding, i int)
		want   []string
	}{
		{"one rule in one file", func(f *finding.Finding, i int) { f.Line = i + 1 },
			[]string{"… and 9997 more of this rule in this file, lines 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, …; --format json lists all"}},
		{"many files", func(f *finding.Finding, i int) { f.Path = fmt.Sprintf("w%d/%s", i, reporttest.Progress) },
			[]string{"… and 9950 more findings; --format json lists all"}},
		{"pairs", func(f *finding.Finding, i int) { f.Path = fmt.Sprintf("w%d/%s", i/2, reporttest.Progress) },
			[]string{"… and 9950 more findings; --format json lists all"}},
		{"long texts", func(f *finding.Finding, i int) {
			f.Path, f.Message, f.Fix, f.Commit, f.Parent = fmt.Sprint(i, long), long, manyLines, long, long
			f.Entry, f.Changes = &finding.EntryRef{TaskID: long, Timestamp: long}, changes
		}, []string{"more characters", "more fields", "\n       … 400006 more characters\n", "… and 9950 more findings"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := reporttest.OneFail()
			one := r.Findings[0]
			r.Findings = make([]finding.Finding, n)
			for i := range r.Findings {
				r.Findings[i] = one
				tt.change(&r.Findings[i], i)
			}
			r.Waived = r.Findings
			out := render(t, "text", r, Options{})
			if len(out) > 1<<20 {
				t.Errorf("%d bytes of output", len(out))
			}
			for _, want := range append(tt.want, "… and 9990 more waived") {
				if !strings.Contains(out, want) {
					t.Errorf("output lacks %q; it ends\n%s", want, out[max(0, len(out)-2000):])
				}
			}
		})
	}
}

// Warnings never displace errors.
func TestErrorsComeFirst(t *testing.T) {
	r := reporttest.OneFail()
	blocking := r.Findings[0]
	r.Findings = nil
	for i := range 200 {
		r.Findings = append(r.Findings, finding.Finding{Rule: "lint/duplicate-id", Severity: finding.SeverityWarning, Path: fmt.Sprint("a", i), Line: 1, Column: 1})
	}
	r.Findings = append(r.Findings, blocking)
	if out := render(t, "text", r, Options{}); !strings.HasPrefix(out, reporttest.Progress+":6:5: error [append-only/modified]: ") {
		t.Errorf("output begins\n%.300s", out)
	}
}

func TestColor(t *testing.T) {
	for _, s := range reporttest.Samples() {
		plain, colored := render(t, "text", s.Report, Options{}), render(t, "text", s.Report, Options{Color: true})
		if plain == colored {
			t.Errorf("%s: colour changes nothing", s.Name)
		}
		if got := withoutColor(colored); got != plain {
			t.Errorf("%s: without its colours the output is\n%s\nwant\n%s", s.Name, got, plain)
		}
	}
}

var colors = regexp.MustCompile("\x1b\\[(0|1|3[1-3])m")

func withoutColor(s string) string { return colors.ReplaceAllString(s, "") }

func TestWidth(t *testing.T) {
	from := strings.Repeat("abcdefgh ", 100)
	r := reporttest.OneFail()
	r.Findings[0].Changes[0].From, r.Findings[0].Changes[0].To = from, strings.ToUpper(from)
	for _, width := range []int{60, 120, 1} {
		for _, line := range strings.Split(render(t, "text", r, Options{Width: width}), "\n") {
			limit := max(width, minWidth+len("    - ")) + len("… 1000 more characters")
			if strings.HasPrefix(line, "    ") && utf8.RuneCountInString(line) > limit {
				t.Errorf("width %d: a line of %d characters: %s", width, utf8.RuneCountInString(line), line)
			}
		}
	}
}

func FuzzText(f *testing.F) {
	for i, s := range reporttest.Texts {
		f.Add(s, reporttest.Texts[(i+7)%len(reporttest.Texts)], "\n::")
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		r := reporttest.Hostile(a)
		mixed := reporttest.Hostile(b)
		mixed.Findings[0].Path, mixed.Findings[0].Rule, mixed.Findings[0].Message = c, a, b+c
		mixed.Findings[0].Changes = append(mixed.Findings[0].Changes, ledger.FieldChange{Field: c, From: a, To: b, HasFrom: true, HasTo: true})
		mixed.Findings[1].Path, mixed.Findings[1].Commit, mixed.Findings[1].Fix = a+b, "", c+"\n"+a
		r.Findings = append(r.Findings, mixed.Findings...)
		for _, opts := range []Options{{}, {Width: 50, Quiet: true}} {
			plain := render(t, "text", r, opts)
			if fault := reporttest.Unsafe(plain); fault != "" {
				t.Fatal(fault)
			}
			opts.Color = true
			if colored := withoutColor(render(t, "text", r, opts)); colored != plain {
				t.Fatalf("with colours removed:\n%s\nwant\n%s", colored, plain)
			}
		}
	})
}

// What a message says of an entry is not said again below it: there stands the fingerprint alone, and what the message does not say.
func TestEntryIsNamedOnce(t *testing.T) {
	r := reporttest.OneFail()
	f := &r.Findings[0]
	f.EditFrom, f.Entry.Index, f.Entry.Noun, f.EntryAfter = "sha256:00", 1, "", nil
	id := "fingerprint " + f.Fingerprint()[:finding.ShownFingerprint]
	label := ": " + content.EntryLabel(f.Entry)
	for _, tt := range []struct {
		message, noun string
		want          string
	}{
		{`entry 2 ("task-1", 2026-03-01T09:10:00Z) was modified`, "", id},
		{"one entry was modified", "", "entry 2" + label + "; " + id},
	} {
		f.Message = tt.message
		if got := content.AboutEntry(f, content.EntryLabel); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.message, got, tt.want)
		}
	}
	f.Message, f.Entry.Noun, f.Entry.TaskID, f.Entry.Timestamp = "line 2 was modified", ledger.Line, "", ""
	if got := content.AboutEntry(f, content.EntryLabel); got != id {
		t.Errorf("a line: %q, want %q", got, id)
	}
}
