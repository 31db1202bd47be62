package content

import (
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/reporttest"
)

func TestCommitOf(t *testing.T) {
	r := &finding.Report{
		Examined: finding.Examined{CommitLink: "https://git.example.com/a/b/commit/"},
		Commits:  []finding.Commit{{ID: reporttest.Head, Author: "A\x1b[31m", Subject: "s\u202e", Date: "2026-01-02T03:04:05Z"}},
	}
	if got, want := CommitOf(r, reporttest.Head), (Commit{
		ID: reporttest.Head[:12], Page: "https://git.example.com/a/b/commit/" + reporttest.Head, Author: `A\x1b[31m`, Subject: `s\u202e`, Date: "2026-01-02",
	}); got != want || got.By() != `A\x1b[31m, 2026-01-02` {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := CommitOf(r, reporttest.Base); got.Subject != "" || got.By() != "" || got.Page == "" {
		t.Errorf("a commit that the report does not describe: %+v", got)
	}
	r.Examined.CommitLink = "javascript:alert(1)//"
	for _, id := range []string{reporttest.Head, "", "x"} {
		if page := CommitOf(r, id).Page; page != "" {
			t.Errorf("a link to %s", page)
		}
	}
	r.Examined.CommitLink = "https://git.example.com/"
	for _, id := range []string{"", `"><script>`} {
		if page := CommitOf(r, id).Page; page != "" {
			t.Errorf("a link to %s", page)
		}
	}
}
