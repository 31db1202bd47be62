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
	// prefixes are the directories in Dirs with a final slash; the root's is empty.
	prefixes []string
	globs    []glob
	// dirs has the prefixes, exact the globs that are one path, rest the other globs: there may be thousands.
	dirs, exact map[string]bool
	rest        []glob
	patterns    []string // of rest
	twins       small.Twins
	// below are all prefixes and twins, sorted, to find one below a directory.
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

// inWorkspace reports whether a path is .small or a lookalike of it, or below one, in one of the directories, if there are any, else at any
// depth.
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

// MayHold reports whether the filter may select something below a directory.
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

// anySmall matches .small, its lookalikes, and a few unrelated names.
const anySmall = ".*[mM][aA][lL][lL]*"

// globSpecial escapes the special characters of a pathspec.
var globSpecial = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// pathspecs match what the filter selects, and perhaps more: callers must drop what Matches does not accept. They are relative to the root,
// wherever git runs.
//
// Those of patterns have no glob magic: a * matches slashes too, and if there is only one *, git just compares the ends of a path
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

// twinspecs are pathspecs for twins, grouped by calls of git: excluding a path would also exclude twins below it.
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

// glob is a pattern with the literal beginning and end of each matching path; exact if there is nothing between them.
type glob struct {
	prefix, suffix string
	exact          bool
}

// mayMatch compares the ends of a path.
func (g glob) mayMatch(path string) bool {
	return strings.HasPrefix(path, g.prefix) && strings.HasSuffix(path, g.suffix)
}

// globMeta are the special characters of a pattern.
const globMeta = `*?[]{}\`

func newGlob(pattern string) glob {
	if text, literal := unescaped(pattern); literal {
		return glob{prefix: text, exact: true}
	}
	first, last := strings.IndexAny(pattern, globMeta), strings.LastIndexAny(pattern, globMeta)
	// A ** can match nothing, together with one of its slashes.
	return glob{
		prefix: strings.TrimSuffix(pattern[:first], "/"),
		suffix: strings.TrimPrefix(pattern[last+1:], "/"),
	}
}

// unescaped is the only path that a pattern matches, if it has no unescaped special character.
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
