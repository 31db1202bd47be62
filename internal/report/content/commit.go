package content

import (
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/gate/finding"
)

// Commit describes a commit that findings name. Unknown parts are empty.
type Commit struct {
	// ID is abbreviated. Page is the address of the commit's page, if a CI system gave it.
	ID, Page              string
	Subject, Author, Date string
}

// CommitOf describes a commit by its full id.
func CommitOf(r *finding.Report, id string) Commit {
	out := Commit{ID: Abbreviate(id)}
	if id != "" && strings.Trim(id, "0123456789abcdef") == "" && address().MatchString(r.Examined.CommitLink) {
		out.Page = r.Examined.CommitLink + id
	}
	for i := range r.Commits {
		if c := &r.Commits[i]; c.ID == id {
			day, _, _ := strings.Cut(c.Date, "T")
			out.Subject, out.Author, out.Date = Name(c.Subject), Name(c.Author), Name(day)
		}
	}
	return out
}

// By says who wrote the commit and when: "Ada, 2026-03-01".
func (c Commit) By() string {
	var parts []string
	for _, part := range []string{c.Author, c.Date} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// address matches an address of which no character needs escaping in any format.
var address = expression.Of(`^https?://[A-Za-z0-9._~/:%-]+$`)

// RepositoryPage returns the address of the repository's page: the part of a commit's address before /commit, which all systems have in it. It is empty
// if no CI system gave a commit's address.
func RepositoryPage(r *finding.Report) string {
	link := r.Examined.CommitLink
	end := strings.LastIndex(link, "/commit")
	if end < 0 || !address().MatchString(link) {
		return ""
	}
	return strings.TrimSuffix(link[:end], "/-") // GitLab has /-/commit
}
