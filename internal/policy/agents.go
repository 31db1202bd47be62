package policy

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// IsAgent reports whether an author's name or address is that of an agent.
func (p *Policy) IsAgent(author string) bool { return matchesText(p.AgentAuthors, author) }

// IsAgentTrailer reports whether a commit's trailer says that an agent had a
// hand in it. Upper and lower case in its name are the same, as for git.
func (p *Policy) IsAgentTrailer(name, value string) bool {
	for trailer, patterns := range p.AgentTrailers {
		if strings.EqualFold(trailer, name) && matchesText(patterns, value) {
			return true
		}
	}
	return false
}

// matchesText matches a text that is no path: a slash in it is a character like
// any other, for the patterns' * too.
func matchesText(patterns []string, text string) bool {
	const slash = "\u2215"
	for _, pattern := range patterns {
		// The patterns were checked when they were read.
		if ok, err := doublestar.Match(strings.ReplaceAll(pattern, "/", slash), strings.ReplaceAll(text, "/", slash)); err == nil && ok {
			return true
		}
	}
	return false
}
