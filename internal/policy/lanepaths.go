package policy

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// MatchLast reports whether the last of some patterns that matches a path is one
// that does not begin with !. Upper and lower case are the same.
func MatchLast(patterns []string, path string) bool {
	path = strings.ToLower(path)
	for i := len(patterns) - 1; i >= 0; i-- {
		pattern, not := strings.CutPrefix(strings.ToLower(patterns[i]), "!")
		if matchOne(pattern, path) {
			return !not
		}
	}
	return false
}

// matchOne reports whether a pattern matches a path. Most are about a name in
// any folder, and then there is no need to try every folder.
func matchOne(pattern, path string) bool {
	if name, ok := strings.CutPrefix(pattern, "**/"); ok && !strings.Contains(name, "/") && !strings.Contains(name, "**") {
		pattern, path = name, path[strings.LastIndexByte(path, '/')+1:]
	}
	// The patterns were checked when they were read.
	ok, err := doublestar.Match(pattern, path)
	return err == nil && ok
}
