package yamltext

import (
	"errors"
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
	if after == nil || without(after.Root, key, members).Canonical() != without(doc.Root, key, members).Canonical() {
		return nil, fmt.Errorf("the text under %q cannot be changed without changing the rest", key)
	}
	for _, m := range members {
		if got, ok := after.Root.Get(key).Get(m.Key).Str(); !ok || got != m.Value {
			return nil, fmt.Errorf("the text under %q cannot be changed without changing the rest", key)
		}
	}
	return out, nil
}

func (s *Source) setMembers(root *small.Value, key string, members []Member) ([]Edit, error) {
	i := slices.IndexFunc(root.Fields, func(f small.Field) bool { return f.Key == key })
	if i < 0 {
		if s.flow(root) {
			return nil, errors.New("the file is one mapping in braces")
		}
		indent := strings.Repeat(" ", root.Fields[0].KeyPos.Column-1)
		return []Edit{s.InsertLines(s.End(), indent+key+":"+s.EOL()+s.block(members, indent+"    "))}, nil
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
		start, end, ok := s.Scalar(old)
		if !ok {
			return nil, fmt.Errorf("the value of %q has an anchor or a tag, is an alias, or spans lines", m.Key)
		}
		edits = append(edits, Edit{Start: start, End: end, Text: strconv.Quote(m.Value)})
	}
	if len(missing) > 0 {
		if s.flow(field.Value) {
			return nil, fmt.Errorf("%q is a mapping in braces", key)
		}
		first := field.Value.Fields[0].KeyPos
		edits = append(edits, s.InsertLines(first.Line, s.block(missing, strings.Repeat(" ", first.Column-1))))
	}
	return edits, nil
}

// fill gives an empty mapping, or null, its members.
func (s *Source) fill(field small.Field, members []Member) ([]Edit, error) {
	start := s.Offset(field.Value.Pos)
	end := start
	switch {
	case strings.HasPrefix(string(s.Text[start:]), "{}"):
		end += len("{}")
	case field.Value.Text != "":
		var ok bool
		if start, end, ok = s.Scalar(field); !ok {
			return nil, fmt.Errorf("the value of %q has an anchor or a tag, or is an alias", field.Key)
		}
	default:
		indent := strings.Repeat(" ", field.KeyPos.Column-1)
		return []Edit{s.InsertLines(field.KeyPos.Line+1, s.block(members, indent+"    "))}, nil
	}
	var all []string
	for _, m := range members {
		all = append(all, m.Key+": "+strconv.Quote(m.Value))
	}
	return []Edit{{Start: start, End: end, Text: "{" + strings.Join(all, ", ") + "}"}}, nil
}

// block writes members as lines.
func (s *Source) block(members []Member, indent string) string {
	var out strings.Builder
	for _, m := range members {
		out.WriteString(indent + m.Key + ": " + strconv.Quote(m.Value) + s.EOL())
	}
	return out.String()
}

func (s *Source) flow(v *small.Value) bool { return s.At(s.Offset(v.Pos)) == '{' }

// without is a document without members of the mapping under a key, and without the mapping if nothing else is in it.
func without(root *small.Value, key string, members []Member) *small.Value {
	out := *root
	out.Fields = nil
	for _, f := range root.Fields {
		if f.Key == key && (f.Value.Kind == small.Map || f.Value.Kind == small.Null) {
			rest := *f.Value
			rest.Fields = slices.DeleteFunc(slices.Clone(rest.Fields), func(f small.Field) bool {
				return slices.ContainsFunc(members, func(m Member) bool { return m.Key == f.Key })
			})
			if len(rest.Fields) == 0 {
				continue
			}
			f.Value = &rest
		}
		out.Fields = append(out.Fields, f)
	}
	return &out
}
