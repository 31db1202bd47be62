package policy

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/small-gate/small-gate/internal/small"
)

// Judges reports whether the workspace in dir ("" for the root) is to be
// judged: some Include pattern matches the path of its .small directory and no
// Exclude pattern does.
func (p *Policy) Judges(dir string) bool {
	path := small.InDir(dir, "")
	return matchesAny(p.Include, path) && !matchesAny(p.Exclude, path)
}

// matchesAny reports whether one of the patterns matches. Patterns were
// checked when the configuration was read; a malformed one matches nothing.
func matchesAny(patterns []string, path string) bool {
	for _, pattern := range patterns {
		if !strings.HasSuffix(path, literalEnd(pattern)) {
			continue
		}
		if ok, err := doublestar.Match(pattern, path); err == nil && ok {
			return true
		}
	}
	return false
}

// patternMeta are the characters that mean something in a pattern.
const patternMeta = `*?[]{}\`

// literalEnd is what every path ends in that a pattern matches. A slash after the
// last wildcard need not be in the path: ** stands for nothing too.
func literalEnd(pattern string) string {
	return strings.TrimPrefix(pattern[strings.LastIndexAny(pattern, patternMeta)+1:], "/")
}
