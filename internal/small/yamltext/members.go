package yamltext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// Member is a member of a mapping. Value is a string for [SetMembers], and the YAML text of a value elsewhere.
type Member struct{ Key, Value string }

// Lines writes one member per line: the first after lead, the others indented as far.
func Lines(lead string, members []Member, eol string) string {
	var out strings.Builder
	for _, m := range members {
		out.WriteString(lead + m.Key + ": " + m.Value + eol)
		lead = strings.Repeat(" ", len(lead))
	}
	return out.String()
}

// SetMembers sets members of the mapping under a root key, adds the missing ones, and the mapping if need be.
// Everything else stays as it was. It fails if the text is not a readable mapping, or if it cannot make the change
// without changing the rest.
func SetMembers(text []byte, key string, members []Member, limits small.Limits) ([]byte, error) {
	s, root, err := parseText(text, limits)
	if err != nil {
		return nil, err
	}
	want, written := root.Get(key).Members(), slices.Clone(members)
	for i, m := range members {
		written[i].Value = strconv.Quote(m.Value)
		want = setField(want, m.Key, &small.Value{Kind: small.String, Text: m.Value})
	}
	edits, err := s.setMembers(root, key, written)
	if err != nil {
		return nil, err
	}
	return s.applyChecked(edits, root, key, &small.Value{Kind: small.Map, Fields: want}, "under "+strconv.Quote(key), limits)
}

// parseText parses a text whose root is a mapping.
func parseText(text []byte, limits small.Limits) (*source, *small.Value, error) {
	doc, problems := small.Parse(text, limits)
	if doc == nil {
		return nil, nil, fmt.Errorf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message)
	}
	return newSource(text), doc.Root, nil
}

func (s *source) setMembers(root *small.Value, key string, members []Member) ([]edit, error) {
	i := slices.IndexFunc(root.Fields, func(f small.Field) bool { return f.Key == key })
	if i < 0 {
		return s.appendKey(root, key, func(indent int) string { return s.memberLines(members, indent+4) })
	}
	field := root.Fields[i]
	if empty := field.Value.Kind == small.Null || field.Value.Kind == small.Map && len(field.Value.Fields) == 0; empty {
		return s.fillEmpty(field, members)
	}
	if field.Value.Kind != small.Map {
		return nil, fmt.Errorf("%q is %s; a mapping is expected", key, field.Value.Kind)
	}
	edits, missing, err := s.replaceMembers(field.Value, members)
	if err == nil && len(missing) > 0 {
		if s.isInBraces(field.Value) {
			return nil, fmt.Errorf("%q is a mapping in braces", key)
		}
		first := field.Value.Fields[0].KeyPos
		edits = append(edits, s.insertLines(first.Line, s.memberLines(missing, first.Column-1)))
	}
	return edits, err
}

// replaceMembers replaces the values of members, and lists the members that the mapping lacks.
func (s *source) replaceMembers(mapping *small.Value, members []Member) (edits []edit, missing []Member, err error) {
	for _, m := range members {
		i := slices.IndexFunc(mapping.Fields, func(f small.Field) bool { return f.Key == m.Key })
		if i < 0 {
			missing = append(missing, m)
			continue
		}
		old := mapping.Fields[i]
		if text, ok := old.Value.Str(); ok && strconv.Quote(text) == m.Value || !ok && old.Value.Text == m.Value {
			continue
		}
		change, err := s.replaceScalar(old, m.Value)
		if err != nil {
			return nil, nil, err
		}
		edits = append(edits, change)
	}
	return edits, missing, nil
}

// fillEmpty writes members into an empty mapping, or in place of null.
func (s *source) fillEmpty(field small.Field, members []Member) ([]edit, error) {
	var all []string
	for _, m := range members {
		all = append(all, m.Key+": "+m.Value)
	}
	inBraces := "{" + strings.Join(all, ", ") + "}"
	start := s.offset(field.Value.Pos)
	if end := s.emptyEnd(start, '{', '}'); end > 0 {
		return []edit{{start, end, inBraces}}, nil
	}
	if field.Value.Text == "" {
		return []edit{s.insertLines(field.KeyPos.Line+1, s.memberLines(members, field.KeyPos.Column+3))}, nil
	}
	change, err := s.replaceScalar(field, inBraces)
	return []edit{change}, err
}

func (s *source) memberLines(members []Member, indent int) string {
	lead := strings.Repeat(" ", indent)
	return Lines(lead, members, s.eol())
}
