package githistory

import (
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Filter is a [history.Filter] in a form that checks many paths quickly.
type Filter struct {
	history.Filter
	// prefixes are the directories in Dirs, each with a slash at its end. The root is the empty string.
	prefixes []string
	globs    []glob
	// prefixSet holds the prefixes, and exactPaths the globs that match one path only. Looking a path up in them is quick even if there are
	// thousands. wildcards holds the other globs, and wildcardPatterns their patterns.
	prefixSet, exactPaths map[string]bool
	wildcards             []glob
	wildcardPatterns      []string
	twins                 small.Twins
	// beginnings holds the prefixes, the globs' prefixes and the paths in Twins, sorted. MayContain searches it for one inside a directory.
	beginnings []string
}

// NewFilter makes a Filter.
func NewFilter(f history.Filter) *Filter {
	out := &Filter{Filter: f, prefixSet: map[string]bool{}, exactPaths: map[string]bool{}, twins: small.NewTwins(f.Twins)}
	for _, dir := range f.Dirs {
		if dir = path.Clean(dir) + "/"; dir == "./" {
			dir = ""
		}
		out.prefixes, out.prefixSet[dir] = append(out.prefixes, dir), true
	}
	for _, p := range f.Patterns {
		if f.AnyCase {
			p = anyCasePattern(p)
		}
		g := newGlob(p)
		out.globs, out.beginnings = append(out.globs, g), append(out.beginnings, g.prefix)
		if g.exact {
			out.exactPaths[g.prefix] = true
		} else {
			out.wildcards, out.wildcardPatterns = append(out.wildcards, g), append(out.wildcardPatterns, p)
		}
	}
	if f.AnyCase {
		out.beginnings = nil // MayContain compares the globs' prefixes in any case
	}
	out.beginnings = append(append(out.beginnings, out.prefixes...), f.Twins...)
	slices.Sort(out.beginnings)
	return out
}

// foldCase returns the text of a path that is compared with the patterns.
func (f *Filter) foldCase(path string) string {
	if f.AnyCase {
		return small.Fold(path)
	}
	return path
}

// anyCasePattern returns a pattern that matches at least each folded path of which one spelling matches the given pattern. A class in brackets becomes a
// question mark, since its folded range may lack a letter that it has, or [^A-Z] exclude one that it matches.
func anyCasePattern(pattern string) string {
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			out.WriteString(pattern[i : i+2])
			i++
		case c == '[':
			for i++; i < len(pattern) && pattern[i] != ']'; i++ {
				if pattern[i] == '\\' {
					i++
				}
			}
			out.WriteByte('?')
		default:
			out.WriteByte(c)
		}
	}
	return small.Fold(out.String())
}

// Matches reports whether the filter selects a file.
func (f *Filter) Matches(path string) bool {
	return f.All || f.Workspaces && f.inWorkspace(path) || f.matchesPattern(path) || len(f.twins.Of(path)) > 0
}

// inWorkspace reports whether a path is .small or a lookalike, or lies inside one. If the filter has directories, only .small directly in these
// counts, otherwise .small at any depth.
func (f *Filter) inWorkspace(path string) bool {
	if len(f.prefixes) == 0 {
		_, in := small.WorkspaceOf(path)
		return in
	}
	for dir, at := "", 0; ; {
		name, _, more := strings.Cut(path[at:], "/")
		if f.prefixSet[dir] && (name == small.Dir || small.Lookalike(name, small.Dir)) {
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
	path = f.foldCase(path)
	return f.exactPaths[path] || slices.ContainsFunc(f.wildcards, func(g glob) bool { return g.mayMatch(path) }) && policy.Matches(f.wildcardPatterns, path)
}

// MayContain reports whether the filter may select something inside a directory.
func (f *Filter) MayContain(dir string) bool {
	if f.All || f.Workspaces && (len(f.prefixes) == 0 || f.inWorkspace(dir)) || len(f.twins.Of(dir)) > 0 {
		return true
	}
	dir += "/"
	if i, _ := slices.BinarySearch(f.beginnings, dir); i < len(f.beginnings) && strings.HasPrefix(f.beginnings[i], dir) {
		return true
	}
	dir = f.foldCase(dir)
	return f.AnyCase && slices.ContainsFunc(f.globs, func(g glob) bool { return strings.HasPrefix(g.prefix, dir) }) ||
		slices.ContainsFunc(f.wildcards, func(g glob) bool { return strings.HasPrefix(dir, g.prefix) })
}

// smallGlob is a glob that matches .small, its lookalikes and a few other names.
const smallGlob = ".*[mM][aA][lL][lL]*"

// pathspecEscaper escapes the characters that are special in a pathspec.
var pathspecEscaper = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// pathspecs returns pathspecs that match everything the filter selects except its twins, and perhaps more: callers must drop what Matches
// rejects. They are relative to the root, wherever git runs. If there were more than maxPathspecs, it returns one that matches all files.
//
// The pathspecs of patterns have no glob magic, so that * matches slashes too. If a pathspec has only one *, git compares just the beginning and
// the end of a path (PATHSPEC_ONESTAR in git's pathspec.h).
func (f *Filter) pathspecs() []string {
	if f.All {
		return []string{":(top)"}
	}
	var out []string
	if f.Workspaces && len(f.prefixes) == 0 {
		out = append(out, ":(top,glob)**/"+smallGlob+"/**", ":(top,glob)**/"+smallGlob)
	}
	for _, prefix := range f.prefixes {
		small := ":(top,glob)" + pathspecEscaper.Replace(prefix) + smallGlob
		out = append(out, small+"/**", small)
	}
	for _, g := range f.globs {
		switch {
		case f.AnyCase && g.exact:
			out = append(out, ":(top,icase)"+anyCase(g.prefix))
		case f.AnyCase:
			out = append(out, ":(top,icase)"+anyCase(g.prefix)+"*"+anyCase(g.suffix))
		case g.exact:
			out = append(out, ":(top,literal)"+g.prefix)
		default:
			out = append(out, ":(top)"+g.prefix+"*"+g.suffix)
		}
	}
	if len(out) > maxPathspecs {
		return []string{":(top)"}
	}
	return out
}

// twinPathspecs returns the pathspecs for twins, one list for each call of git. Paths of different depth go into different calls, because
// excluding a path would also exclude the twins inside it. A path that is itself a twin is not excluded. It returns one pathspec that matches all
// files if there were more than maxPathspecs.
func (f *Filter) twinPathspecs() (calls [][]string) {
	const each = 3
	if each*len(f.Twins) > maxPathspecs {
		return [][]string{{":(top)"}}
	}
	depths := map[int][]string{}
	for _, of := range f.Twins {
		like := ":(top,icase)" + anyCase(of)
		n := strings.Count(of, "/")
		depths[n] = append(depths[n], like, like+"/*")
		if len(f.twins.Of(of)) == 0 {
			depths[n] = append(depths[n], ":(top,exclude,literal)"+of)
		}
	}
	return slices.Collect(maps.Values(depths))
}

// anyCase returns a text as part of a pathspec with icase magic. It has a * for each character beyond ASCII, since git folds the case of ASCII
// only.
func anyCase(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '*'
		}
		return r
	}, pathspecEscaper.Replace(text))
}

// glob holds the texts with which each path that matches a pattern begins and ends. If exact is true, prefix is the only path that matches.
type glob struct {
	prefix, suffix string
	exact          bool
}

// mayMatch reports whether a path begins and ends as the pattern requires.
func (g glob) mayMatch(path string) bool {
	return strings.HasPrefix(path, g.prefix) && strings.HasSuffix(path, g.suffix)
}

// patternSpecials holds the characters that are special in a pattern.
const patternSpecials = `*?[]{}\`

func newGlob(pattern string) glob {
	if text, literal := literalPath(pattern); literal {
		return glob{prefix: text, exact: true}
	}
	first, last := strings.IndexAny(pattern, patternSpecials), strings.LastIndexAny(pattern, patternSpecials)
	// If a ** matches nothing, one of the slashes around it is missing from the path too.
	return glob{
		prefix: strings.TrimSuffix(pattern[:first], "/"),
		suffix: strings.TrimPrefix(pattern[last+1:], "/"),
	}
}

// literalPath returns the only path that a pattern matches. It returns false if the pattern has a special character that is not escaped.
func literalPath(pattern string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
			out.WriteByte(pattern[i])
		case strings.IndexByte(patternSpecials, c) >= 0:
			return "", false
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), true
}
