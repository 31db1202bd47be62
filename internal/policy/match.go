package policy

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/small-gate/small-gate/internal/small"
)

// Patterns are checked when a configuration is read; here they are well formed.

// Judges reports whether the workspace in dir ("" for the root) is to be
// judged: some Include pattern matches the path of its .small directory and no
// Exclude pattern does.
func (p *Policy) Judges(dir string) bool {
	path := small.InDir(dir, "")
	return Matches(p.Include, path) && !Matches(p.Exclude, path)
}

// Matches reports whether a path matches one of some patterns.
func Matches(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return strings.HasSuffix(path, literalEnd(pattern)) && doublestar.MatchUnvalidated(pattern, path)
	})
}

// literalEnd is the end of every path that a pattern matches. A slash after the
// last wildcard need not be in the path: ** matches nothing too.
func literalEnd(pattern string) string {
	return strings.TrimPrefix(pattern[strings.LastIndexAny(pattern, `*?[]{}\`)+1:], "/")
}

// LiteralPattern is the pattern that matches a path and nothing else.
func LiteralPattern(path string) string { return patternSpecial.Replace(path) }

// patternSpecial escapes the characters that have a meaning in a pattern.
var patternSpecial = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)

// IsAgent reports whether an author's name or address is that of an agent.
func (p *Policy) IsAgent(author string) bool { return matchesText(p.AgentAuthors, author) }

// IsRobot reports whether an author's name or address is that of a program that keeps no log.
func (p *Policy) IsRobot(author string) bool { return matchesText(p.Robots, author) }

// IsAgentTrailer reports whether a commit's trailer says that an agent had a
// hand in it. Case does not matter in its name, as in git.
func (p *Policy) IsAgentTrailer(name, value string) bool {
	for trailer, patterns := range p.AgentTrailers {
		if strings.EqualFold(trailer, name) && matchesText(patterns, value) {
			return true
		}
	}
	return false
}

// MatchTask reports whether a pattern of Before or After matches a task id.
func MatchTask(pattern, task string) bool { return matchesText([]string{pattern}, task) }

// matchesText matches a text that is not a path: a slash in it is a character like
// any other, for the patterns' * too.
func matchesText(patterns []string, text string) bool {
	flat := strings.NewReplacer("/", "\u2215").Replace
	return slices.ContainsFunc(patterns, func(pattern string) bool { return doublestar.MatchUnvalidated(flat(pattern), flat(text)) })
}

// MatchLast reports whether the last of some patterns that matches a path is one
// that does not begin with !. Case does not matter.
func MatchLast(patterns []string, path string) bool {
	path = strings.ToLower(path)
	base := path[strings.LastIndexByte(path, '/')+1:]
	for _, pattern := range slices.Backward(patterns) {
		pattern, not := strings.CutPrefix(strings.ToLower(pattern), "!")
		at := path
		// Most are about a name in any folder, which makes it unnecessary to try every folder.
		if name, ok := strings.CutPrefix(pattern, "**/"); ok && !strings.Contains(name, "/") && !strings.Contains(name, "**") {
			pattern, at = name, base
		}
		if doublestar.MatchUnvalidated(pattern, at) {
			return !not
		}
	}
	return false
}
