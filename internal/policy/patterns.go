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

// trailerForm is what git takes as a trailer's name
// (git-interpret-trailers: letters, digits and hyphens).
var trailerForm = expression.Of(`^[A-Za-z0-9][A-Za-z0-9-]*$`)

// checkPatterns judges the patterns of workspaces and agents.
func (r *reader) checkPatterns(root *small.Value) {
	for _, of := range []struct {
		section string
		keys    []string
		check   PatternCheck
	}{
		{"workspaces", []string{"include", "exclude"}, dirPattern},
		{"agents", []string{"authors", "ignore"}, nil},
	} {
		for _, key := range of.keys {
			r.patterns(find(root, of.section+"."+key), of.section+"."+key, of.check)
		}
	}
	lines := map[string]int{} // by the name in lower case: git ignores its case
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
		r.patterns(f.Value, subject, nil)
	}
}

// PatternCheck says what is wrong with a well-formed pattern, and how to correct it.
type PatternCheck func(pattern string) (message, hint string)

// patterns reads a list of glob patterns.
func (r *reader) patterns(list *small.Value, subject string, check PatternCheck) []string {
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

// TrimRoot is a pattern without a leading ./ or /, with which no path from the root of a repository begins.
func TrimRoot(pattern string) string { return strings.TrimLeft(strings.TrimPrefix(pattern, "./"), "/") }

// dirPattern says why a pattern can never match the path of a .small
// directory, if it clearly cannot.
func dirPattern(pattern string) (message, hint string) {
	mended := TrimRoot(pattern)
	if !strings.ContainsAny(pattern, `{}[]\`) { // inside of those a slash need not be a separator
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

// FilePattern says why a pattern can never match the path of a file.
func FilePattern(pattern string) (message, hint string) {
	mended := TrimRoot(pattern)
	if parts := strings.Split(mended, "/"); slices.Contains(parts, "..") || slices.Contains(parts, ".") {
		for mended = path.Clean(mended); strings.HasPrefix(mended, "../"); {
			mended = mended[len("../"):]
		}
	}
	if mended == pattern {
		return "", ""
	}
	return "the pattern " + wording.Quote(pattern) + " matches no path; paths begin at the repository's root", "write " + wording.Quote(mended)
}
