package githistory

import (
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
)

// Watch is a set of glob patterns, as the configuration writes them, for files
// of interest beside those below .small directories.
type Watch struct {
	patterns []string
	globs    []glob
}

// glob is a pattern with the texts that a path begins and ends with if it
// matches; exact if nothing stands between the two.
type glob struct {
	prefix, suffix string
	exact          bool
}

// globMeta are the characters that mean something in a pattern.
const globMeta = `*?[]{}\`

// NewWatch makes a Watch of patterns.
func NewWatch(patterns []string) *Watch {
	w := &Watch{patterns: patterns}
	for _, p := range patterns {
		w.globs = append(w.globs, newGlob(p))
	}
	return w
}

func newGlob(pattern string) glob {
	if text, literal := unescaped(pattern); literal {
		return glob{prefix: text, exact: true}
	}
	first, last := strings.IndexAny(pattern, globMeta), strings.LastIndexAny(pattern, globMeta)
	// A ** stands for nothing too, with the slash at one of its sides.
	return glob{
		prefix: strings.TrimSuffix(pattern[:first], "/"),
		suffix: strings.TrimPrefix(pattern[last+1:], "/"),
	}
}

// unescaped is the one path that a pattern without any special character that
// counts matches.
func unescaped(pattern string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
			out.WriteByte(pattern[i])
		case strings.IndexByte(globMeta, c) >= 0:
			return "", false
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), true
}

// pathspecs match what the patterns match, and perhaps more: who asks git with
// them leaves out what Matches does not.
//
// They have no glob magic, so that a * stands for slashes too, and git compares
// the ends of a path without more ado where only one * is in the pattern
// (PATHSPEC_ONESTAR in git's pathspec.h).
func (w *Watch) pathspecs() []string {
	var out []string
	for _, g := range w.globs {
		if g.exact {
			out = append(out, literal(g.prefix))
		} else {
			out = append(out, ":(top)"+g.prefix+"*"+g.suffix)
		}
	}
	return out
}

// Matches reports whether a path matches one of the patterns. It is asked of every
// path of an index, so few are compared as the patterns say.
func (w *Watch) Matches(path string) bool {
	maybe := slices.ContainsFunc(w.globs, func(g glob) bool {
		return strings.HasSuffix(path, g.suffix) && (g.exact && path == g.prefix || !g.exact && strings.HasPrefix(path, g.prefix))
	})
	return maybe && policy.Matches(w.patterns, path)
}

// Below reports whether a path below a directory ("" for the root) may match.
func (w *Watch) Below(dir string) bool {
	if dir == "" {
		return len(w.globs) > 0
	}
	return slices.ContainsFunc(w.globs, func(g glob) bool {
		dir := dir + "/"
		return strings.HasPrefix(dir, g.prefix) || strings.HasPrefix(g.prefix, dir)
	})
}

// OfInterest reports whether a file is one that Changes reports where w is
// watched, for readers that look by themselves.
func (w *Watch) OfInterest(path string) bool { return OfInterest(path) || w.Matches(path) }
