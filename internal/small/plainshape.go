package small

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"unicode/utf8"
)

// plainShape is the fast way of judging an item of a list: by its schema, a
// mapping whose members are texts fits. Of anything else it says nothing, and
// the engine judges it. FuzzCheckSchema holds it to the engine.
type plainShape struct {
	required []string
	members  map[string]*textForm
}

// textForm is what a schema asks of a text.
type textForm struct {
	enum      []string
	minLength int
	pattern   *regexp.Regexp
}

// plainShapes are the shapes of those lists at the top level of a schema whose
// items can be judged so, by key.
func plainShapes(raw []byte) map[string]*plainShape {
	var root struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(raw, &root) != nil {
		return nil
	}
	shapes := map[string]*plainShape{}
	for key, list := range root.Properties {
		if shape := plainShapeOf(list); shape != nil {
			shapes[key] = shape
		}
	}
	return shapes
}

// plainShapeOf reads the schema of a list; nil if it has any keyword that is not
// listed here.
func plainShapeOf(list []byte) *plainShape {
	var schema struct {
		Type  string `json:"type"`
		Items struct {
			Type       string   `json:"type"`
			Additional *bool    `json:"additionalProperties"`
			Required   []string `json:"required"`
			Properties map[string]struct {
				Type      any      `json:"type"`
				Enum      []string `json:"enum"`
				MinLength int      `json:"minLength"`
				Pattern   string   `json:"pattern"`
			} `json:"properties"`
		} `json:"items"`
	}
	decoder := json.NewDecoder(bytes.NewReader(list))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&schema) != nil || schema.Type != "array" || schema.Items.Type != "object" {
		return nil
	}
	shape := &plainShape{required: schema.Items.Required, members: map[string]*textForm{}}
	for key, member := range schema.Items.Properties {
		isText := member.Type == any("string")
		if types, several := member.Type.([]any); several {
			isText = slices.Contains(types, any("string"))
		}
		if !isText {
			continue
		}
		form := &textForm{enum: member.Enum, minLength: member.MinLength}
		if member.Pattern != "" {
			form.pattern = regexp.MustCompile(member.Pattern) // the engine has compiled it too
		}
		shape.members[key] = form
	}
	return shape
}

// fits reports whether an item fits for certain. matched holds by form the last
// text that had its pattern: entry after entry has the same replayId.
func (s *plainShape) fits(item *Value, matched map[*textForm]string) bool {
	if s == nil || item.Kind != Map {
		return false
	}
	for i := range item.Fields {
		f := &item.Fields[i]
		form := s.members[f.Key]
		if form == nil || !f.Named() || f.Value.Kind != String || !form.fits(f.Value.Text, matched) {
			return false
		}
	}
	return !slices.ContainsFunc(s.required, func(key string) bool { return item.Get(key) == nil })
}

func (f *textForm) fits(text string, matched map[*textForm]string) bool {
	if len(f.enum) > 0 && !slices.Contains(f.enum, text) || len(text) < f.minLength || f.minLength > 1 && utf8.RuneCountInString(text) < f.minLength {
		return false
	}
	if f.pattern == nil || text == matched[f] && text != "" {
		return true
	}
	if !f.pattern.MatchString(text) {
		return false
	}
	matched[f] = text
	return true
}
