package small

import (
	"strconv"
	"strings"
)

// Kind is the JSON type of a decoded YAML value, or Other if JSON has no such type.
type Kind uint8

// The kinds of value.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
	// Other is a scalar that JSON lacks: a date, an infinity, not-a-number,
	// binary data.
	Other
)

var kindNames = [...]string{"null", "a boolean", "a number", "a string", "a list", "a mapping", "a value JSON does not have"}

// String names the kind with its article, for messages.
func (k Kind) String() string { return kindNames[k] }

// Value is a decoded YAML value with its place. Aliases and merge keys are
// resolved; keys are scalars and unique.
type Value struct {
	Kind Kind
	// Plain is true for a scalar written neither in quotes nor as a block.
	Plain bool
	truth bool
	block bool // a list written in block style
	Pos   Pos
	// Tag is the resolved short YAML tag of a scalar, such as "!!str".
	Tag string
	// Text is a string's content; for every other scalar its source text.
	Text string
	// Items are the elements of a list.
	Items []*Value
	// Fields are the members of a mapping in the order of the file.
	Fields []Field
}

// Field is one member of a mapping. Key is the content of a string key, and the source text of any other key.
type Field struct {
	Key    string
	KeyPos Pos
	Value  *Value
	// NonStringKey is the canonical form of a key that is not a string, else empty.
	NonStringKey string
	// Tagged is true for a key with a custom tag.
	Tagged bool
}

// HasStringKey reports whether the key is a string.
func (f *Field) HasStringKey() bool { return f.NonStringKey == "" }

// Get returns the member called key of a mapping, or nil. It may be called on
// nil and on any kind.
func (v *Value) Get(key string) *Value {
	if v == nil || v.Kind != Map {
		return nil
	}
	for i := range v.Fields {
		if v.Fields[i].Key == key {
			return v.Fields[i].Value
		}
	}
	return nil
}

// Members returns the members of a mapping. It may be called on nil and on any kind.
func (v *Value) Members() []Field {
	if v == nil {
		return nil
	}
	return v.Fields
}

// IsBlockList reports whether a list is written in block style, one item below the
// other. Pos is then the place of its first dash.
func (v *Value) IsBlockList() bool { return v != nil && v.Kind == List && v.block }

// Str returns the text of a string value, and whether it is one.
func (v *Value) Str() (string, bool) {
	if v == nil || v.Kind != String {
		return "", false
	}
	return v.Text, true
}

// Trimmed returns the text of a string value without the white space around
// it, as the protocol compares ids, statuses and times.
func (v *Value) Trimmed() (string, bool) {
	s, ok := v.Str()
	return strings.TrimSpace(s), ok
}

// At follows a dotted path such as "tasks.2.title", split at its dots, and returns the deepest value that exists.
func (v *Value) At(path []string) *Value {
	for _, step := range path {
		var next *Value
		switch v.Kind {
		case Map:
			next = v.Get(step)
		case List:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v.Items) {
				next = v.Items[i]
			}
		}
		if next == nil {
			return v
		}
		v = next
	}
	return v
}

// IsLeaf reports whether a value has no items and no members.
func (v *Value) IsLeaf() bool { return len(v.Items) == 0 && len(v.Fields) == 0 }

// IsTrue reports whether a value is the boolean true.
func (v *Value) IsTrue() bool { return v.Kind == Bool && v.truth }
