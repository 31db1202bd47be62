package yamltext

import (
	"errors"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// SetMember is the change that gives a mapping a member which it has not, or which is null, with this text on one line as its value.
func (s *Source) SetMember(mapping *small.Value, key, value string) (Edit, error) {
	if i := slices.IndexFunc(mapping.Fields, func(f small.Field) bool { return f.Key == key }); i >= 0 {
		field := mapping.Fields[i]
		if field.Value.Text == "" {
			at := s.Offset(field.KeyPos) + len(key) + len(":")
			return Edit{Start: at, End: at, Text: " " + value}, nil
		}
		start, end, ok := s.Scalar(field)
		if !ok {
			return Edit{}, errors.New("the value has an anchor or a tag, or is an alias")
		}
		return Edit{Start: start, End: end, Text: value}, nil
	}
	if len(mapping.Fields) == 0 {
		return Edit{}, errors.New("the mapping is empty")
	}
	first := mapping.Fields[0].KeyPos
	at := s.Offset(first)
	text := key + ": " + value
	if s.flow(mapping) {
		text += ", "
	} else {
		text += s.EOL() + strings.Repeat(" ", first.Column-1)
	}
	return Edit{Start: at, End: at, Text: text}, nil
}
