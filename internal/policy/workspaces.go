package policy

import (
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
		if ok, err := doublestar.Match(pattern, path); err == nil && ok {
			return true
		}
	}
	return false
}
