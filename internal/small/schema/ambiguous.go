package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

// findAmbiguous finds what programs read from YAML in different ways and a JSON Schema
// cannot express: keys that are no strings in mappings of the protocol, keys with
// a tag, binary data, and a key "<<" that is text.
func findAmbiguous(a small.Artifact, root *small.Value) []small.Problem {
	var out []small.Problem
	add := func(pos small.Pos, path []string, hint, format string, args ...any) {
		if len(out) == maxProblems { // reported for the document, so that no baseline accepts what is not listed
			pos, path, hint, format, args = root.Pos, nil, "", "more than %d problems of this kind", []any{maxProblems}
		} else if len(out) > maxProblems {
			return
		}
		subject := ""
		for _, step := range path {
			subject = join(subject, step)
		}
		out = append(out, small.Problem{Kind: small.ProblemSchema, Pos: pos, Subject: subject, Hint: hint, Message: fmt.Sprintf(format, args...)})
	}
	var look func(v *small.Value, path []string)
	look = func(v *small.Value, path []string) {
		if v.Tag == small.BinaryTag {
			add(v.Pos, path, "write it as text", "%s is binary data, which some readers decode and some do not", describe(path))
		}
		depth := len(path)
		for i, item := range v.Items {
			look(item, append(path, strconv.Itoa(i)))
		}
		for i := range v.Fields {
			f := &v.Fields[i]
			if f.HasStringKey() && !f.Tagged && f.Key != "<<" && f.Value.IsLeaf() && f.Value.Tag != small.BinaryTag {
				continue // the usual case
			}
			path = append(path[:depth], wording.Clip(f.Key))
			switch owner := path[:depth]; {
			case !f.HasStringKey() && wantsNames(a, owner):
				add(f.KeyPos, path, fmt.Sprintf("quote it: %q", wording.Clip(f.Key)), "the key %q of %s is no string", wording.Clip(f.Key), describe(owner))
			case f.Tagged && isJudged(a, owner):
				add(f.KeyPos, path, "remove the tag", "the key %q of %s has a tag; with it, programs do not read the key as a string", wording.Clip(f.Key), describe(owner))
			case strings.HasPrefix(f.NonStringKey, small.BinaryTag):
				add(f.KeyPos, path, "write it as text", "a key of %s is binary data, which some readers decode and some do not", describe(owner))
			case f.HasStringKey() && f.Key == "<<":
				add(f.KeyPos, path, "give it another name", `the key "<<" of %s is text here, and a merge key to other readers`, describe(owner))
			}
			look(f.Value, path)
		}
	}
	look(root, nil)
	return out
}

// isJudged reports whether the schema judges the keys of a mapping at a path. Of the
// root only the text of the keys counts.
func isJudged(a small.Artifact, path []string) bool {
	return len(path) == 1 || len(path) == 2 || wantsNames(a, path)
}

// wantsNames reports whether a mapping at a path may have any key that is a string: a
// task, or an entry's evidence. Deeper mappings may have any scalar as a key, and in
// all other mappings the schema lists the keys.
func wantsNames(a small.Artifact, path []string) bool {
	switch len(path) {
	case 2:
		return a == small.Plan && path[0] == "tasks"
	case 3:
		return a == small.Progress && path[0] == "entries"
	}
	return false
}
