package report

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

func readJUnit(t testing.TB, r *finding.Report) junitSuites {
	t.Helper()
	var out junitSuites
	if err := xml.Unmarshal([]byte(render(t, "junit", r, Options{})), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// outline is each suite's name and counts and each case's name and result.
func outline(suites junitSuites) []string {
	var out []string
	for _, s := range suites.Suites {
		out = append(out, fmt.Sprintf("%s: %d tests, %d failures, %d errors, %d skipped", s.Name, s.Tests, s.Failures, s.Errors, s.Skipped))
		for _, c := range s.Cases {
			result := "passed"
			switch {
			case c.Error != nil:
				result = "error"
			case c.Failure != nil:
				result = "failure"
			case c.Skipped != nil:
				result = "skipped"
			}
			out = append(out, "  "+c.Name+": "+result)
		}
	}
	return out
}

func TestJUnitOutline(t *testing.T) {
	second := reporttest.OnePass()
	second.Ledgers = append(second.Ledgers, finding.LedgerState{Path: "b/" + reporttest.Progress})
	both := reporttest.OneFail()
	both.Failure, both.Verdict = reporttest.Failed().Failure, finding.Error
	for _, tt := range []struct {
		name   string
		report *finding.Report
		want   []string
	}{
		{"two logs", second, []string{
			"small-gate: 1 tests, 0 failures, 0 errors, 0 skipped", "  judged: passed",
			reporttest.Progress + ": 1 tests, 0 failures, 0 errors, 0 skipped", "  no findings: passed",
			"b/" + reporttest.Progress + ": 1 tests, 0 failures, 0 errors, 0 skipped", "  no findings: passed",
		}},
		{"nothing there", &finding.Report{Verdict: finding.Pass}, []string{
			"small-gate: 1 tests, 0 failures, 0 errors, 0 skipped", "  judged: passed",
		}},
		{"many", reporttest.Many(), []string{
			"small-gate: 1 tests, 0 failures, 0 errors, 0 skipped", "  judged: passed",
			reporttest.Progress + ": 5 tests, 4 failures, 0 errors, 1 skipped", "  append-only/modified: failure", "  append-only/reordered: failure",
			"  append-only/inserted: failure", "  divergence/run: failure", "  append-only/modified (waived): skipped",
			"pkg/ünïcode name/.small/intent.small.yml: 1 tests, 1 failures, 0 errors, 0 skipped", "  validate/missing-artifact: failure",
			"fork/" + reporttest.Progress + ": 1 tests, 1 failures, 0 errors, 0 skipped", "  divergence/concurrent-append: failure",
			".small-gate.yml: 1 tests, 0 failures, 0 errors, 0 skipped", "  config/changed (warning): passed",
		}},
		{"a failure after a finding", both, []string{
			"small-gate: 1 tests, 0 failures, 1 errors, 0 skipped", "  judged: error",
			reporttest.Progress + ": 1 tests, 1 failures, 0 errors, 0 skipped", "  append-only/modified: failure",
		}},
		{"no verdict", &finding.Report{}, []string{"small-gate: 1 tests, 0 failures, 1 errors, 0 skipped", "  judged: error"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, outline(readJUnit(t, tt.report))); diff != "" {
				t.Errorf("outline differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJUnitIsBounded(t *testing.T) {
	gittest.Long(t)
	long := strings.Repeat("long ", 150)
	r := reporttest.OneFail()
	one := r.Findings[0]
	r.Findings = nil
	for i := range 20_000 {
		one.Message, one.Fix, one.Changes[0].From = long, long, long
		one.Rule, one.Commit = fmt.Sprintf("rule/%d", i/3), fmt.Sprint(i)
		r.Findings = append(r.Findings, one)
	}
	out := render(t, "junit", r, Options{})
	if len(out) > 2*maxBodies {
		t.Errorf("%d bytes", len(out))
	}
	suites := readJUnit(t, r).Suites
	last := suites[0].Cases[len(suites[0].Cases)-1]
	if last.Name != "complete" || last.Failure == nil || last.Failure.Message != "5000 more findings; --format json lists all" {
		t.Errorf("the last case of the first suite: %+v", last)
	}
	if n := suites[1].Failures; n != maxCases {
		t.Errorf("%d failures, want %d", n, maxCases)
	}
}

// One rule's findings in one file are one case, which names them all.
func TestJUnitBodies(t *testing.T) {
	r := reporttest.Many()
	body := readJUnit(t, r).Suites[1].Cases[0].Failure.Body
	for _, want := range []string{"entry 1: task-0", "- all tests", "entry 20: task-19", "+ zwei und halb"} {
		if strings.Contains(body, want) != (want != "- all tests") {
			t.Errorf("the body has %q: %v\n%s", want, want == "- all tests", body)
		}
	}
	if n := strings.Count(body, "compared with"); n != 1 {
		t.Errorf("the commit is named %d times", n)
	}
}

func FuzzJUnit(f *testing.F) {
	for i, s := range reporttest.Texts {
		f.Add(s, reporttest.Texts[(i+5)%len(reporttest.Texts)])
	}
	f.Add("]]>", "<![CDATA[&amp;</failure>")
	f.Add("\ufffe\uffff", `"'<>&`)
	f.Fuzz(func(t *testing.T, a, b string) {
		r := reporttest.Hostile(a)
		r.Findings[0].Path, r.Findings[0].Rule, r.Failure.Message = b, b+a, b
		r.Findings[1].Fix, r.Waived[0].Reason = b+"\n"+a, b
		out := render(t, "junit", r, Options{})
		if fault := reporttest.Unsafe(out); fault != "" {
			t.Fatal(fault)
		}
		suites := readJUnit(t, r)
		tests, cases := 0, 0
		for _, s := range suites.Suites {
			tests += s.Tests
			cases += len(s.Cases)
		}
		judged := suites.Suites[0].Cases[0]
		if tests != cases || cases < 3 || judged.Error == nil || judged.Error.Message != content.Text(b) {
			t.Fatalf("%d tests, %d cases, judged: %+v", tests, cases, judged)
		}
	})
}
