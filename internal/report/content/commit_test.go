package content

import (
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
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
	for _, link := range []string{"javascript:alert(1)//", "https://a/x)[y](z/commit/", "https://a/b c/commit/", "http://", "https://a/\x00/commit/", "ftp://a/commit/"} {
		r.Examined.CommitLink = link
		for _, id := range []string{reporttest.Head, "", "x"} {
			if page := CommitOf(r, id).Page; page != "" {
				t.Errorf("a link to %s", page)
			}
		}
		if page := RepositoryPage(r); page != "" {
			t.Errorf("a repository at %s", page)
		}
	}
	r.Examined.CommitLink = "https://git.example.com/"
	for _, id := range []string{"", `"><script>`} {
		if page := CommitOf(r, id).Page; page != "" {
			t.Errorf("a link to %s", page)
		}
	}
}

func TestRepositoryPage(t *testing.T) {
	for link, want := range map[string]string{
		"https://github.com/a/commit-log/commit/": "https://github.com/a/commit-log",
		"https://gitlab.com/a/b/c/-/commit/":      "https://gitlab.com/a/b/c",
		"https://bitbucket.org/a/b/commits/":      "https://bitbucket.org/a/b",
		"https://git.example.com/a/b/":            "",
		"":                                        "",
	} {
		if got := RepositoryPage(&finding.Report{Examined: finding.Examined{CommitLink: link}}); got != want {
			t.Errorf("%q: %q, want %q", link, got, want)
		}
	}
}
