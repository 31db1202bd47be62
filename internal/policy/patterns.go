package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

// trailerForm matches what git accepts as a trailer's name: letters, digits and
// hyphens (git-interpret-trailers).
var trailerForm = expression.Of(`^[A-Za-z0-9][A-Za-z0-9-]*$`)

// checkPatterns checks the patterns of workspaces and agents, and the names of
// trailers.
func (r *reader) checkPatterns(root *small.Value) {
	for _, group := range []struct {
		section string
		keys    []string
		check   PatternCheck
	}{
		{"workspaces", []string{"include", "exclude"}, checkDirPattern},
		{"agents", []string{"authors", "ignore"}, nil},
	} {
		for _, key := range group.keys {
			path := group.section + "." + key
			r.readPatterns(find(root, path), path, group.check)
		}
	}
	lines := map[string]int{} // of each trailer, by its name in lower case: git ignores the case
	for _, f := range root.Get("agents").Get("trailers").Members() {
		subject := "agents.trailers." + f.Key
		if !trailerForm().MatchString(f.Key) {
			r.fail(f.KeyPos, subject, "%q cannot be a trailer's name; use letters, digits and hyphens", wording.Clip(f.Key))
			continue
		}
		if line := lines[strings.ToLower(f.Key)]; line > 0 {
			r.fail(f.KeyPos, subject, "the trailer %q is already on line %d; case is ignored", f.Key, line)
		}
		lines[strings.ToLower(f.Key)] = f.KeyPos.Line
		r.readPatterns(f.Value, subject, nil)
	}
}

// PatternCheck returns what is wrong with a well-formed pattern, and how to
// correct it. Both are empty if the pattern is right.
type PatternCheck func(pattern string) (message, hint string)

// readPatterns returns the list's patterns, and reports those that are empty,
// malformed or refused by check, which may be nil.
func (r *reader) readPatterns(list *small.Value, subject string, check PatternCheck) []string {
	out := []string{}
	if list == nil {
		return out
	}
	for i, item := range list.Items {
		at := fmt.Sprintf("%s.%d", subject, i)
		pattern, ok := item.Str()
		switch {
		case !ok:
			continue
		case pattern == "":
			r.fail(item.Pos, at, "the pattern is empty")
		case !doublestar.ValidatePattern(pattern):
			r.report(Problem{
				Pos: item.Pos, Subject: at, Message: fmt.Sprintf("the pattern %q is malformed", wording.Clip(pattern)),
				Hint: `close every [ and {; write a bracket itself as [[] or \[`,
			})
		case check != nil:
			if message, hint := check(pattern); message != "" {
				r.report(Problem{Pos: item.Pos, Subject: at, Message: message, Hint: hint})
			}
		}
		out = append(out, pattern)
	}
	return out
}

// TrimRoot removes a leading ./ and leading slashes from a pattern: no path from a repository's root begins with them.
func TrimRoot(pattern string) string { return strings.TrimLeft(strings.TrimPrefix(pattern, "./"), "/") }

// checkDirPattern returns the [PatternCheck] for patterns of .small directories: it refuses
// a pattern that clearly can never match one.
func checkDirPattern(pattern string) (message, hint string) {
	mended := TrimRoot(pattern)
	if !strings.ContainsAny(pattern, `{}[]\`) { // within these characters a slash may not be a separator
		last := mended[strings.LastIndexByte(mended, '/')+1:]
		if ok, err := doublestar.Match(last, small.Dir); err != nil || !ok {
			mended = strings.TrimPrefix(strings.TrimRight(mended, "/.")+"/**", "/")
		}
	}
	if mended == pattern {
		return "", ""
	}
	return "the pattern " + wording.Quote(pattern) + " matches no path of a " + small.Dir + " directory", "write " + wording.Quote(mended)
}

// upInBraces finds an alternative in braces that has .. as an element.
var upInBraces = expression.Of(`[{](.*[{,/])?\.\.([/},]|$)`)

// FilePattern returns the [PatternCheck] for patterns of files: it refuses a pattern
// that clearly can never match one.
func FilePattern(pattern string) (message, hint string) {
	mended, reason := TrimRoot(pattern), "paths begin at the repository's root"
	parts := strings.Split(mended, "/")
	isFolder := slices.Contains([]string{"", ".", ".."}, parts[len(parts)-1])
	if isFolder || slices.ContainsFunc(parts, func(part string) bool { return part == ".." || part == "." || part == "" }) {
		for mended = path.Clean(mended); strings.HasPrefix(mended, "../"); {
			mended = mended[len("../"):]
		}
	}
	if isFolder {
		reason = "it names a folder, not files"
		mended = strings.TrimSuffix(mended, "/**") + "/**"
		if mended == "./**" || mended == "../**" {
			mended = "**"
		}
	}
	if mended == pattern && upInBraces().MatchString(pattern) {
		return "the pattern " + wording.Quote(pattern) + " leads out of the repository or its folder", "write each alternative in braces as a path without .."
	}
	if mended == pattern {
		return "", ""
	}
	return "the pattern " + wording.Quote(pattern) + " matches no path; " + reason, "write " + wording.Quote(mended)
}
