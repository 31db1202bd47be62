package policy

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/small-gate/small-gate/internal/expression"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

var (
	ruleForm = expression.Of(`^[a-z][a-z0-9-]*/[a-z][a-z0-9-]*$`)
	// trailerForm is what git takes as a trailer's name
	// (git-interpret-trailers: letters, digits and hyphens).
	trailerForm = expression.Of(`^[A-Za-z0-9][A-Za-z0-9-]*$`)
)

func (r *reader) workspaces(v *small.Value, p *Policy) {
	for _, f := range r.mapping(v, "workspaces", "include", "exclude") {
		subject := "workspaces." + f.Key
		patterns := r.patterns(f.Value, subject, dirPattern)
		switch f.Key {
		case "include":
			if p.Include = patterns; len(patterns) == 0 {
				r.fail(f.Value.Pos, subject, "no pattern is given; nothing would be judged")
			}
		case "exclude":
			p.Exclude = patterns
		}
	}
}

func (r *reader) levels(v *small.Value, p *Policy) {
	for _, f := range r.mapping(v, "rules") {
		r.rule(f.KeyPos, f.Key, "rules."+f.Key)
		p.Rules[f.Key] = Level(r.oneOf(f.Value, "rules."+f.Key, string(Error), string(Warning), string(Off)))
	}
}

func (r *reader) agents(v *small.Value, p *Policy) {
	for _, f := range r.mapping(v, "agents", "authors", "trailers") {
		switch f.Key {
		case "authors":
			p.AgentAuthors = r.patterns(f.Value, "agents.authors", nil)
		case "trailers":
			p.AgentTrailers = r.trailers(f.Value)
		}
	}
}

func (r *reader) trailers(v *small.Value) map[string][]string {
	out := map[string][]string{}
	lines := map[string]int{} // by the name in lower case: git ignores its case
	for _, f := range r.mapping(v, "agents.trailers") {
		subject := "agents.trailers." + f.Key
		if !trailerForm().MatchString(f.Key) {
			r.fail(f.KeyPos, subject, "%q cannot be a trailer's name; use letters, digits and hyphens", wording.Clip(f.Key))
			continue
		}
		if line := lines[strings.ToLower(f.Key)]; line > 0 {
			r.fail(f.KeyPos, subject, "the trailer %q is already on line %d; case is ignored", f.Key, line)
		}
		lines[strings.ToLower(f.Key)] = f.KeyPos.Line
		if out[f.Key] = r.patterns(f.Value, subject, nil); len(out[f.Key]) == 0 {
			r.fail(f.Value.Pos, subject, "no pattern is given; remove the trailer instead")
		}
	}
	return out
}

// patterns reads a list of glob patterns. Check, if given, says what is wrong
// with a well-formed pattern, and how to mend it.
func (r *reader) patterns(v *small.Value, subject string, check func(string) (message, hint string)) []string {
	items := r.list(v, subject)
	out := make([]string, 0, len(items))
	for i, item := range items {
		at := fmt.Sprintf("%s.%d", subject, i)
		pattern, ok := r.text(item, at)
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

// dirPattern says why a pattern can never match the path of a .small
// directory, if it plainly cannot.
func dirPattern(pattern string) (message, hint string) {
	mended := strings.TrimLeft(strings.TrimPrefix(pattern, "./"), "/")
	if !strings.ContainsAny(pattern, `{}[]\`) { // in those a slash need not separate
		last := mended[strings.LastIndexByte(mended, '/')+1:]
		if ok, err := doublestar.Match(last, small.Dir); err != nil || !ok {
			mended = strings.TrimPrefix(strings.TrimRight(mended, "/.")+"/**", "/")
		}
	}
	if mended == pattern {
		return "", ""
	}
	return fmt.Sprintf("the pattern %q matches no path of a %s directory", wording.Clip(pattern), small.Dir),
		fmt.Sprintf("write %q", wording.Clip(mended))
}
