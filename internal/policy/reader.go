package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// maxAdvised bounds how many problems get a suggestion, and so the work on a
// file that is wrong from end to end.
const maxAdvised = 200

// reader turns values into a policy and collects what is wrong with them. It
// relies on nothing that the schema has checked: each method is strict by
// itself, and what the schema has said about a place is not said again.
type reader struct {
	rules    catalogue
	problems []Problem
	// said holds what a problem has been reported for.
	reported map[location]bool
}

// location is what a problem is about: a subject and its position. A key and
// its value share the subject.
type location struct {
	pos     small.Pos
	subject string
}

// fail reports a problem, unless its place has one already.
func (r *reader) fail(pos small.Pos, subject, format string, args ...any) {
	r.report(Problem{Pos: pos, Subject: subject, Message: fmt.Sprintf(format, args...)})
}

func (r *reader) report(p Problem) {
	at := location{p.Pos, p.Subject}
	if r.reported[at] {
		return
	}
	r.reported[at] = true
	r.problems = append(r.problems, p)
}

// advised reports whether there is room for another suggestion.
func (r *reader) advised() bool { return len(r.problems) < maxAdvised }

// mapping returns the members of a mapping that may have only the named keys;
// without names any key may stand there.
func (r *reader) mapping(v *small.Value, subject string, keys ...string) []small.Field {
	if v.Kind != small.Map {
		r.fail(v.Pos, subject, "%q is %s, not a mapping", subject, v.Kind)
		return nil
	}
	out := make([]small.Field, 0, len(v.Fields))
	for _, f := range v.Fields {
		if !f.Named() {
			r.fail(f.KeyPos, subject+"."+f.Key, "the key %q is not a string; quote it", f.Key)
			continue
		}
		if len(keys) > 0 && !slices.Contains(keys, f.Key) {
			r.fail(f.KeyPos, subject+"."+f.Key, "unknown key %q in %q", f.Key, subject)
			continue
		}
		out = append(out, f)
	}
	return out
}

func (r *reader) list(v *small.Value, subject string) []*small.Value {
	if v.Kind != small.List {
		r.fail(v.Pos, subject, "%q is %s, not a list", subject, v.Kind)
		return nil
	}
	return v.Items
}

// text reads a string. A nil value is a missing one, and no text.
func (r *reader) text(v *small.Value, subject string) (string, bool) {
	if v == nil {
		return "", false
	}
	s, ok := v.Str()
	if !ok {
		r.fail(v.Pos, subject, "%q is %s, not a string", subject, v.Kind)
	}
	return s, ok
}

func (r *reader) boolean(v *small.Value, subject string) bool {
	if v.Kind == small.Bool {
		switch strings.ToLower(v.Text) {
		case "true":
			return true
		case "false":
			return false
		}
	}
	r.fail(v.Pos, subject, "%q is not true or false", subject)
	return false
}

// integer reads a whole number as YAML writes it: other bases and underscores
// are allowed. A nil value is a missing one, and no number.
func (r *reader) integer(v *small.Value, subject string) (int64, bool) {
	if v == nil {
		return 0, false
	}
	if v.Kind == small.Number && v.Tag == "!!int" {
		if n, err := strconv.ParseInt(strings.ReplaceAll(v.Text, "_", ""), 0, 64); err == nil {
			return n, true
		}
	}
	r.fail(v.Pos, subject, "%q is not a whole number", subject)
	return 0, false
}

func (r *reader) between(v *small.Value, subject string, least, most int64) int64 {
	n, ok := r.integer(v, subject)
	if ok && (n < least || n > most) {
		r.fail(v.Pos, subject, "%q is %d; expected %d to %d", subject, n, least, most)
	}
	return n
}

func (r *reader) oneOf(v *small.Value, subject string, words ...string) string {
	s, ok := r.text(v, subject)
	if ok && !slices.Contains(words, s) {
		r.report(Problem{
			Pos: v.Pos, Subject: subject, Message: fmt.Sprintf("%q is not one of %q", s, words),
			Suggestion: nearest(s, words),
		})
	}
	return s
}

// rule reads a rule id at a place.
func (r *reader) rule(pos small.Pos, id, subject string) {
	if slices.Contains(r.rules.ids, id) {
		return
	}
	p := Problem{Pos: pos, Subject: subject, Message: fmt.Sprintf("there is no rule %q", wording.Clip(id))}
	if r.advised() {
		p.Suggestion = nearestRule(id, r.rules.ids)
	}
	if p.Suggestion == "" {
		p.Hint = "`small-hook explain` lists the rules"
	}
	r.report(p)
}
