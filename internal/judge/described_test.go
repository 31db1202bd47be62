package judge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/git/repository"
	"github.com/small-gate/small-gate/internal/judge"
)

// With either reader, a report with a finding describes the repository, the branch, and the commit at fault with its author.
func TestReportDescribesCommits(t *testing.T) {
	r := workspace(t)
	by := r.With("GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_DATE=1767225780 -0730")
	r.Write(log, entries(1))
	bad := by.Commit("Tidy up\n\nAll of it.")
	want := []finding.Commit{{ID: bad, Author: "Ada", Subject: "Tidy up", Date: "2025-12-31T16:33:00-07:30"}}
	for _, reader := range []string{repository.Git, repository.Embedded} {
		req := request(r, reader)
		report := judge.Audit(t.Context(), req, "")
		if diff := cmp.Diff(want, report.Commits); diff != "" || report.Examined.Branch != "main" || report.Examined.Repository == "" || report.Examined.CommitLink != "" {
			t.Errorf("%s: %+v, commits (-want +got):\n%s", reader, report.Examined, diff)
		}
		if older := judge.Audit(t.Context(), req, "HEAD~1"); older.Examined.Branch != "" || older.Commits != nil {
			t.Errorf("%s: a report of another commit without findings: %+v, %v", reader, older.Examined, older.Commits)
		}
		if failed := judge.Audit(t.Context(), req, "nothing"); failed.Failure == nil || failed.Examined.Repository != report.Examined.Repository {
			t.Errorf("%s: a failure's report: %+v", reader, failed.Examined)
		}
		plan, err := ci.Decide(map[string]string{
			"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "schedule", "CI_COMMIT_SHA": bad, "CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main",
			"CI_PROJECT_PATH": "a/b", "CI_PROJECT_URL": "https://git.example.com/a/b",
		}, nil, ci.Inputs{})
		if err != nil {
			t.Fatal(err)
		}
		report, _ = judge.CI(t.Context(), req, plan, judge.Token{})
		got := report.Examined
		if diff := cmp.Diff(want, report.Commits); diff != "" || got.Repository != "a/b" || got.Branch != "main" || got.CommitLink != "https://git.example.com/a/b/-/commit/" {
			t.Errorf("%s in CI: %+v, commits (-want +got):\n%s", reader, got, diff)
		}
	}
}
