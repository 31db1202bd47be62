package content

import (
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

// Commit is a commit that findings name, as people know it. Parts that are not
// known are empty.
type Commit struct {
	// ID is abbreviated. Page is the commit's address, from what a CI system says.
	ID, Page              string
	Subject, Author, Date string
}

// CommitOf describes a commit by its full id.
func CommitOf(r *finding.Report, id string) Commit {
	out := Commit{ID: Abbreviate(id)}
	link := r.Examined.CommitLink
	if isWeb := strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://"); isWeb && id != "" && strings.Trim(id, "0123456789abcdef") == "" {
		out.Page = link + id
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
