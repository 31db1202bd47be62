package githistory

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Filter is a [history.Filter] that is quick to ask about every path of an index.
type Filter struct {
	history.Filter
	// prefixes are the directories that Dirs names, with a slash at the end; the
	// root is empty.
	prefixes []string
	globs    []glob
}

// NewFilter prepares a filter.
func NewFilter(f history.Filter) *Filter {
	out := &Filter{Filter: f}
	for _, dir := range f.Dirs {
		if dir = path.Clean(dir); dir == "." {
			out.prefixes = append(out.prefixes, "")
		} else {
			out.prefixes = append(out.prefixes, dir+"/")
		}
	}
	for _, p := range f.Patterns {
		out.globs = append(out.globs, newGlob(p))
	}
	return out
}

// Matches reports whether a file is meant.
func (f *Filter) Matches(path string) bool {
	return f.All || f.Workspaces && f.inWorkspace(path) || f.matchesPattern(path) || f.inTwin(path)
}

// inTwin reports whether a path is a twin, or lies in one.
func (f *Filter) inTwin(path string) bool {
	return slices.ContainsFunc(f.Twins, func(of string) bool {
		_, in := small.Twin(path, of)
		return in
	})
}

// MatchesName is Matches of a name in bytes. Most names of an index are turned down before they are made a string.
func (f *Filter) MatchesName(name []byte) bool {
	maybe := f.All || len(f.Twins) > 0 || f.Workspaces && (bytes.HasPrefix(name, []byte(".")) || bytes.Contains(name, []byte("/."))) ||
		slices.ContainsFunc(f.globs, func(g glob) bool { return mayMatch(g, name) })
	return maybe && f.Matches(string(name))
}

// inWorkspace reports whether a path is .small or a lookalike of it, or below one,
// in one of the directories, if there are any, else at any depth.
func (f *Filter) inWorkspace(path string) bool {
	if len(f.prefixes) == 0 {
		_, in := small.WorkspaceOf(path)
		return in
	}
	return slices.ContainsFunc(f.prefixes, func(prefix string) bool {
		name, below := strings.CutPrefix(path, prefix)
		name, _, _ = strings.Cut(name, "/")
		return below && (name == small.Dir || small.Lookalike(name, small.Dir))
	})
}

func (f *Filter) matchesPattern(path string) bool {
	return slices.ContainsFunc(f.globs, func(g glob) bool { return mayMatch(g, path) }) && policy.Matches(f.Patterns, path)
}

// MayHold reports whether something below a directory may be meant.
func (f *Filter) MayHold(dir string) bool {
	if f.All || f.Workspaces && (len(f.prefixes) == 0 || f.inWorkspace(dir)) || f.inTwin(dir) {
		return true
	}
	dir += "/"
	above := func(path string) bool { return strings.HasPrefix(path, dir) }
	return slices.ContainsFunc(f.prefixes, above) || slices.ContainsFunc(f.Twins, above) ||
		slices.ContainsFunc(f.globs, func(g glob) bool {
			return strings.HasPrefix(g.prefix, dir) || !g.exact && strings.HasPrefix(dir, g.prefix)
		})
}

// anySmall matches .small, its lookalikes, and a few names that have nothing to
// do with it.
const anySmall = ".*[mM][aA][lL][lL]*"

// globSpecial takes away the meaning that characters have in a pathspec.
var globSpecial = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// pathspecs match what is meant, and perhaps more: who asks git with them leaves
// out what Matches does not. They count from the root, wherever git runs.
//
// Those of patterns have no glob magic, so that a * stands for slashes too, and git
// compares the ends of a path without more ado where only one * is in the pattern
// (PATHSPEC_ONESTAR in git's pathspec.h).
func (f *Filter) pathspecs() []string {
	if f.All {
		return []string{":(top)"}
	}
	var out []string
	if f.Workspaces && len(f.prefixes) == 0 {
		out = append(out, ":(top,glob)**/"+anySmall+"/**", ":(top,glob)**/"+anySmall)
	}
	for _, prefix := range f.prefixes {
		small := ":(top,glob)" + globSpecial.Replace(prefix) + anySmall
		out = append(out, small+"/**", small)
	}
	for _, g := range f.globs {
		if g.exact {
			out = append(out, ":(top,literal)"+g.prefix)
		} else {
			out = append(out, ":(top)"+g.prefix+"*"+g.suffix)
		}
	}
	return out
}

// twinspecs are pathspecs for twins, some for each call of git: a path that is left out would take those below it along.
func (f *Filter) twinspecs() (calls [][]string) {
	depths := map[int][]string{}
	for _, of := range f.Twins {
		like := ":(top,icase)" + strings.Map(func(r rune) rune {
			if r >= utf8.RuneSelf {
				return '*' // git does not know its other case
			}
			return r
		}, globSpecial.Replace(of))
		n := strings.Count(of, "/")
		depths[n] = append(depths[n], like, like+"/*", ":(top,exclude,literal)"+of)
	}
	for _, specs := range depths {
		calls = slices.AppendSeq(calls, slices.Chunk(specs, maxPathspecs/3*3))
	}
	return calls
}

// glob is a pattern with the texts that a path begins and ends with if it
// matches; exact if nothing stands between the two.
type glob struct {
	prefix, suffix string
	exact          bool
}

// mayMatch compares the ends of a path.
func mayMatch[T string | []byte](g glob, path T) bool {
	n := len(path)
	if g.exact {
		return string(path) == g.prefix
	}
	return n >= len(g.prefix) && string(path[:len(g.prefix)]) == g.prefix && n >= len(g.suffix) && string(path[n-len(g.suffix):]) == g.suffix
}

// globMeta are the characters that mean something in a pattern.
const globMeta = `*?[]{}\`

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
