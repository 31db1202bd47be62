package policy

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/small-gate/small-gate/internal/small"
)

// The functions of this file take well-formed patterns: reading a configuration
// refuses others.

// Judges reports whether the workspace in dir ("" for the root) is judged: an
// Include pattern matches the path of its .small directory and no Exclude
// pattern does.
func (p *Policy) Judges(dir string) bool {
	path := small.InDir(dir, "")
	return Matches(p.Include, path) && !Matches(p.Exclude, path)
}

// Matches reports whether a path matches at least one of the patterns.
func Matches(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return strings.HasSuffix(path, literalEnd(pattern)) && doublestar.MatchUnvalidated(pattern, path)
	})
}

// literalEnd returns the text after the pattern's last special character, with
// which every matching path ends. It leaves out a slash at its beginning, since
// **/a also matches a.
func literalEnd(pattern string) string {
	return strings.TrimPrefix(pattern[strings.LastIndexAny(pattern, `*?[]{}\`)+1:], "/")
}

// LiteralPattern returns the pattern that matches only the given path.
func LiteralPattern(path string) string { return patternSpecial.Replace(path) }

// patternSpecial escapes the special characters of patterns.
var patternSpecial = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)

// IsAgent reports whether a name or address of an author is that of an agent.
func (p *Policy) IsAgent(author string) bool { return matchesText(p.AgentAuthors, author) }

// IsRobot reports whether a name or address of an author is that of a program that keeps no log.
func (p *Policy) IsRobot(author string) bool { return matchesText(p.Robots, author) }

// IsAgentTrailer reports whether a commit's trailer says that an agent had a
// hand in the commit. As in git, the case of the trailer's name is ignored.
func (p *Policy) IsAgentTrailer(name, value string) bool {
	for trailer, patterns := range p.AgentTrailers {
		if strings.EqualFold(trailer, name) && matchesText(patterns, value) {
			return true
		}
	}
	return false
}

// MatchTask reports whether a pattern matches a task id. A * matches slashes too.
func MatchTask(pattern, task string) bool { return matchesText([]string{pattern}, task) }

// matchesText reports whether one of the patterns matches a text that is not a
// path: a slash is an ordinary character, which * matches.
func matchesText(patterns []string, text string) bool {
	flat := strings.NewReplacer("/", "\u2215").Replace
	return slices.ContainsFunc(patterns, func(pattern string) bool { return doublestar.MatchUnvalidated(flat(pattern), flat(text)) })
}

// MatchLast reports whether a list of patterns, some of which may begin with !,
// selects a path: of the patterns that match it, the last has no !. Case is
// ignored.
func MatchLast(patterns []string, path string) bool {
	path = strings.ToLower(path)
	base := path[strings.LastIndexByte(path, '/')+1:]
	for _, pattern := range slices.Backward(patterns) {
		pattern, not := strings.CutPrefix(strings.ToLower(pattern), "!")
		at := path
		// Most patterns are **/NAME. Comparing the path's last part is faster than trying every folder.
		if name, ok := strings.CutPrefix(pattern, "**/"); ok && !strings.Contains(name, "/") && !strings.Contains(name, "**") {
			pattern, at = name, base
		}
		if doublestar.MatchUnvalidated(pattern, at) {
			return !not
		}
	}
	return false
}
