package githistory

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Filter is a [history.Filter] prepared for quick checks of many paths.
type Filter struct {
	history.Filter
	// prefixes are the directories in Dirs, each with a slash at its end; the root is the empty string.
	prefixes []string
	globs    []glob
	// dirs holds the prefixes, and exact the globs that are one path: a path is looked up in them even if there are thousands. rest holds the
	// other globs.
	dirs, exact map[string]bool
	rest        []glob
	patterns    []string // the patterns of rest
	twins       small.Twins
	// below holds the beginnings of all paths that prefixes, globs and twins select, sorted. MayHold looks in it for one inside a directory.
	below []string
}

// NewFilter prepares a filter.
func NewFilter(f history.Filter) *Filter {
	out := &Filter{Filter: f, dirs: map[string]bool{}, exact: map[string]bool{}, twins: small.NewTwins(f.Twins)}
	for _, dir := range f.Dirs {
		if dir = path.Clean(dir) + "/"; dir == "./" {
			dir = ""
		}
		out.prefixes, out.dirs[dir] = append(out.prefixes, dir), true
	}
	for _, p := range f.Patterns {
		g := newGlob(p)
		out.globs, out.below = append(out.globs, g), append(out.below, g.prefix)
		if g.exact {
			out.exact[g.prefix] = true
		} else {
			out.rest, out.patterns = append(out.rest, g), append(out.patterns, p)
		}
	}
	out.below = append(append(out.below, out.prefixes...), f.Twins...)
	slices.Sort(out.below)
	return out
}

// Matches reports whether the filter selects a file.
func (f *Filter) Matches(path string) bool {
	return f.All || f.Workspaces && f.inWorkspace(path) || f.matchesPattern(path) || len(f.twins.Of(path)) > 0
}

// inWorkspace reports whether a path is that of .small or a lookalike, or of something inside one. If the filter has directories, only the
// .small of these count, otherwise those at any depth.
func (f *Filter) inWorkspace(path string) bool {
	if len(f.prefixes) == 0 {
		_, in := small.WorkspaceOf(path)
		return in
	}
	for dir, at := "", 0; ; {
		name, _, more := strings.Cut(path[at:], "/")
		if f.dirs[dir] && (name == small.Dir || small.Lookalike(name, small.Dir)) {
			return true
		}
		if !more {
			return false
		}
		at += len(name) + 1
		dir = path[:at]
	}
}

func (f *Filter) matchesPattern(path string) bool {
	return f.exact[path] || slices.ContainsFunc(f.rest, func(g glob) bool { return g.mayMatch(path) }) && policy.Matches(f.patterns, path)
}

// MayHold reports whether the filter may select something inside a directory.
func (f *Filter) MayHold(dir string) bool {
	if f.All || f.Workspaces && (len(f.prefixes) == 0 || f.inWorkspace(dir)) || len(f.twins.Of(dir)) > 0 {
		return true
	}
	dir += "/"
	if i, _ := slices.BinarySearch(f.below, dir); i < len(f.below) && strings.HasPrefix(f.below[i], dir) {
		return true
	}
	return slices.ContainsFunc(f.rest, func(g glob) bool { return strings.HasPrefix(dir, g.prefix) })
}

// anySmall is a glob that matches .small, its lookalikes and a few other names.
const anySmall = ".*[mM][aA][lL][lL]*"

// globSpecial escapes the characters that are special in a pathspec.
var globSpecial = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// pathspecs returns pathspecs that match everything the filter selects, and perhaps more: callers must drop what Matches rejects. They are
// relative to the root, wherever git runs.
//
// The pathspecs of patterns have no glob magic, so that a * matches slashes too. If there is only one *, git only compares the beginning and the
// end of a path (PATHSPEC_ONESTAR in git's pathspec.h).
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

// twinspecs returns the pathspecs for twins, in one list for each call of git. Paths of different depth are in different calls, because
// excluding a path would also exclude the twins inside it.
func (f *Filter) twinspecs() (calls [][]string) {
	depths := map[int][]string{}
	for _, of := range f.Twins {
		like := ":(top,icase)" + strings.Map(func(r rune) rune {
			if r >= utf8.RuneSelf {
				return '*' // git cannot fold the case of these
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

// glob is a pattern, known by the text with which each matching path begins and ends. If exact is true, prefix is the only path that matches.
type glob struct {
	prefix, suffix string
	exact          bool
}

// mayMatch reports whether a path begins and ends as the pattern requires.
func (g glob) mayMatch(path string) bool {
	return strings.HasPrefix(path, g.prefix) && strings.HasSuffix(path, g.suffix)
}

// globMeta holds the characters that are special in a pattern.
const globMeta = `*?[]{}\`

func newGlob(pattern string) glob {
	if text, literal := literalPath(pattern); literal {
		return glob{prefix: text, exact: true}
	}
	first, last := strings.IndexAny(pattern, globMeta), strings.LastIndexAny(pattern, globMeta)
	// A ** can match nothing, and then one of the slashes around it is missing, too.
	return glob{
		prefix: strings.TrimSuffix(pattern[:first], "/"),
		suffix: strings.TrimPrefix(pattern[last+1:], "/"),
	}
}

// literalPath returns the only path that a pattern matches, and false if the pattern has a special character that is not escaped.
func literalPath(pattern string) (string, bool) {
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
