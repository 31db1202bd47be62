package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

func readGitLab(t testing.TB, r *finding.Report) []gitlabIssue {
	t.Helper()
	var out []gitlabIssue
	dec := json.NewDecoder(strings.NewReader(render(t, "gitlab", r, Options{})))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// checkIssues demands what GitLab requires of every issue.
func checkIssues(t testing.TB, issues []gitlabIssue) {
	t.Helper()
	severities := map[string]bool{"info": true, "minor": true, "major": true, "critical": true, "blocker": true}
	seen := map[string]bool{}
	for _, issue := range issues {
		if issue.Description == "" || issue.Fingerprint == "" || issue.Location.Path == "" || issue.Location.Lines.Begin < 1 || !severities[issue.Severity] {
			t.Errorf("incomplete: %+v", issue)
		}
		if seen[issue.Fingerprint] {
			t.Errorf("two issues have the fingerprint %s; GitLab would show one", issue.Fingerprint)
		}
		seen[issue.Fingerprint] = true
	}
}

// The exact keys, and [] if there are none.
func TestGitLabKeys(t *testing.T) {
	want := "[{description check_name fingerprint severity location{path lines{begin}}}]"
	got := keys(t, json.NewDecoder(strings.NewReader(render(t, "gitlab", reporttest.OneFail(), Options{}))))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys differ (-want +got):\n%s", diff)
	}
	if out := render(t, "gitlab", reporttest.OnePass(), Options{}); out != "[]\n" {
		t.Errorf("a clean report is %q", out)
	}
}

func TestGitLabIssues(t *testing.T) {
	r := reporttest.Many()
	r.Findings = append(r.Findings, r.Findings[1]) // the same edit in another commit
	r.Findings[len(r.Findings)-1].Commit = reporttest.Base
	issues := readGitLab(t, r)
	checkIssues(t, issues)
	if len(issues) != len(r.Findings) {
		t.Errorf("%d issues of %d findings; waived ones are none", len(issues), len(r.Findings))
	}
	if first, last := issues[0], issues[len(issues)-1]; first.Severity != "critical" || last.Severity != "minor" || last.CheckName != "config/changed" {
		t.Errorf("first %+v, last %+v", first, last)
	}
	for name, r := range map[string]*finding.Report{"failure": reporttest.Failed(), "no verdict": {}} {
		issues := readGitLab(t, r)
		checkIssues(t, issues)
		if len(issues) != 1 || issues[0].Severity != "blocker" {
			t.Errorf("%s: %+v", name, issues)
		}
	}
}

// An issue shows the old and the new content.
func TestGitLabSaysBeforeAndAfter(t *testing.T) {
	want := `Entry 1 was changed after it was recorded. Field notes: "all tests pass" became "all tests passed". (append-only/modified)`
	if issues := readGitLab(t, reporttest.OneFail()); issues[0].Description != want {
		t.Errorf("it says %q, not %q", issues[0].Description, want)
	}
	r := reporttest.OneFail()
	r.Findings[0].EntryAfter = nil
	r.Findings[0].Changes = []ledger.FieldChange{{Field: "task_id", From: "a", HasFrom: true}, {Field: "notes", From: "b", HasFrom: true}}
	if got := readGitLab(t, r)[0].Description; !strings.Contains(got, "The entry: | task_id: a | notes: b") {
		t.Errorf("of an entry that is gone it says %q", got)
	}
}

func TestGitLabIsBounded(t *testing.T) {
	r := reporttest.OneFail()
	for len(r.Findings) < 6000 {
		r.Findings = append(r.Findings, r.Findings[0])
	}
	issues := readGitLab(t, r)
	checkIssues(t, issues)
	if last := issues[len(issues)-1]; len(issues) != maxIssues+1 || last.Description != "1000 more findings; --format json lists all" || last.Severity != "info" {
		t.Errorf("%d issues, the last %+v", len(issues), last)
	}
}

func FuzzGitLab(f *testing.F) {
	for i, s := range reporttest.Texts {
		f.Add(s, reporttest.Texts[(i+5)%len(reporttest.Texts)])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		r := reporttest.Hostile(a)
		r.Findings[0].Path, r.Findings[0].Message = b, b
		if fault := reporttest.Unsafe(render(t, "gitlab", r, Options{})); fault != "" {
			t.Fatal(fault)
		}
		issues := readGitLab(t, r)
		checkIssues(t, issues)
		for _, issue := range issues {
			for _, text := range []string{issue.Description, issue.CheckName, issue.Location.Path} {
				if fault := reporttest.Unsafe(text); fault != "" || strings.Contains(text, "\n") {
					t.Fatal(fault, text)
				}
			}
		}
	})
}
