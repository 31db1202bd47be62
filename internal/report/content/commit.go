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
	if id != "" && strings.Trim(id, "0123456789abcdef") == "" && isAddress(r.Examined.CommitLink) {
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

// isAddress reports whether a text is the address of a page, of characters that need no escaping in any format.
func isAddress(s string) bool {
	rest, secure := strings.CutPrefix(s, "https://")
	if !secure {
		var plain bool
		if rest, plain = strings.CutPrefix(s, "http://"); !plain {
			return false
		}
	}
	return rest != "" && strings.IndexFunc(rest, func(r rune) bool {
		isLetter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !isLetter && !strings.ContainsRune("-._~/:%", r)
	}) < 0
}

// RepositoryPage is the address of the repository's own page: the part of a commit's address before /commit, which all systems have. It is
// empty if no CI system says where commits are.
func RepositoryPage(r *finding.Report) string {
	link := r.Examined.CommitLink
	end := strings.LastIndex(link, "/commit")
	if end < 0 || !isAddress(link) {
		return ""
	}
	return strings.TrimSuffix(link[:end], "/-") // GitLab's
}
