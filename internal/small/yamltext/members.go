package yamltext

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// Member is a member of a mapping, with a string as its value.
type Member struct{ Key, Value string }

// SetMembers returns a text in which members of the mapping under a root key have these values, and everything else is as it was. What
// is missing is added: the members, and the mapping itself. It is an error if the text is no readable mapping, or written in a way that
// cannot be changed without disturbing the rest.
func SetMembers(text []byte, key string, members []Member, limits small.Limits) ([]byte, error) {
	doc, problems := small.Parse(text, limits)
	if doc == nil {
		return nil, fmt.Errorf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message)
	}
	s := New(text)
	edits, err := s.setMembers(doc.Root, key, members)
	if err != nil {
		return nil, err
	}
	out := s.Apply(edits)
	after, _ := small.Parse(out, limits)
	if after == nil || after.Root.Canonical() != with(doc.Root, key, members).Canonical() {
		return nil, fmt.Errorf("the text under %q cannot be changed without changing the rest", key)
	}
	return out, nil
}

func (s *Source) setMembers(root *small.Value, key string, members []Member) ([]Edit, error) {
	i := slices.IndexFunc(root.Fields, func(f small.Field) bool { return f.Key == key })
	if i < 0 {
		return s.AppendKey(root, key, func(indent int) string { return s.block(members, indent+4) })
	}
	field := root.Fields[i]
	if empty := field.Value.Kind == small.Null || field.Value.Kind == small.Map && len(field.Value.Fields) == 0; empty {
		return s.fill(field, members)
	}
	if field.Value.Kind != small.Map {
		return nil, fmt.Errorf("%q is %s; a mapping is expected", key, field.Value.Kind)
	}
	var edits []Edit
	var missing []Member
	for _, m := range members {
		i := slices.IndexFunc(field.Value.Fields, func(f small.Field) bool { return f.Key == m.Key })
		if i < 0 {
			missing = append(missing, m)
			continue
		}
		old := field.Value.Fields[i]
		if text, ok := old.Value.Str(); ok && text == m.Value {
			continue
		}
		edit, err := s.Replace(old, strconv.Quote(m.Value))
		if err != nil {
			return nil, err
		}
		edits = append(edits, edit)
	}
	if len(missing) > 0 {
		if s.Flow(field.Value) {
			return nil, fmt.Errorf("%q is a mapping in braces", key)
		}
		first := field.Value.Fields[0].KeyPos
		edits = append(edits, s.InsertLines(first.Line, s.block(missing, first.Column-1)))
	}
	return edits, nil
}

// fill gives an empty mapping, or null, its members.
func (s *Source) fill(field small.Field, members []Member) ([]Edit, error) {
	var all []string
	for _, m := range members {
		all = append(all, m.Key+": "+strconv.Quote(m.Value))
	}
	inBraces := "{" + strings.Join(all, ", ") + "}"
	if start := s.Offset(field.Value.Pos); bytes.HasPrefix(s.Text[start:], []byte("{}")) {
		return []Edit{{Start: start, End: start + len("{}"), Text: inBraces}}, nil
	}
	if field.Value.Text == "" {
		return []Edit{s.InsertLines(field.KeyPos.Line+1, s.block(members, field.KeyPos.Column+3))}, nil
	}
	edit, err := s.Replace(field, inBraces)
	return []Edit{edit}, err
}

// block writes members as lines.
func (s *Source) block(members []Member, indent int) string {
	var out strings.Builder
	for _, m := range members {
		out.WriteString(strings.Repeat(" ", indent) + m.Key + ": " + strconv.Quote(m.Value) + s.EOL())
	}
	return out.String()
}

// with is a document with members of the mapping under a key set.
func with(root *small.Value, key string, members []Member) *small.Value {
	set := func(fields []small.Field, key string, v *small.Value) []small.Field {
		fields = slices.DeleteFunc(slices.Clone(fields), func(f small.Field) bool { return f.Key == key })
		return append(fields, small.Field{Key: key, Value: v})
	}
	out, mapping := *root, small.Value{Kind: small.Map, Fields: root.Get(key).Members()}
	for _, m := range members {
		mapping.Fields = set(mapping.Fields, m.Key, &small.Value{Kind: small.String, Text: m.Value})
	}
	out.Fields = set(root.Fields, key, &mapping)
	return &out
}
