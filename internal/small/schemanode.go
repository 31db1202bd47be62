package small

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/wording"
)

// schemaNode is what a schema requires of one value. It knows the keywords of
// draft-07 that our schemas use; a schema with any other does not compile.
// FuzzCheckSchema holds it to a JSON Schema library.
type schemaNode struct {
	types               []string
	enum                []any
	required            []string
	members             map[string]*schemaNode
	others              *schemaNode // the members that are not named; nil if they may be anything
	closed              bool        // there are no others
	items               *schemaNode
	minItems, minLength int
	pattern             *regexp.Regexp
	minimum, maximum    *big.Rat
}

// schemaText is a schema as it is written.
type schemaText struct {
	Schema      string                 `json:"$schema"`
	Title       string                 `json:"title"`
	Description string                 `json:"description"`
	Type        any                    `json:"type"`
	Enum        []any                  `json:"enum"`
	Required    []string               `json:"required"`
	Properties  map[string]*schemaText `json:"properties"`
	Additional  json.RawMessage        `json:"additionalProperties"`
	Items       *schemaText            `json:"items"`
	MinItems    int                    `json:"minItems"`
	MinLength   int                    `json:"minLength"`
	Pattern     string                 `json:"pattern"`
	Minimum     *json.Number           `json:"minimum"`
	Maximum     *json.Number           `json:"maximum"`
}

func compileSchema(raw []byte) (*schemaNode, error) {
	var s schemaText
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return nil, err
	}
	return s.compile()
}

// compile makes the node; nil of no schema.
func (s *schemaText) compile() (n *schemaNode, err error) {
	if s == nil {
		return nil, nil
	}
	n = &schemaNode{enum: s.Enum, required: s.Required, members: map[string]*schemaNode{}, minItems: s.MinItems, minLength: s.MinLength}
	types, several := s.Type.([]any)
	if !several && s.Type != nil {
		types = []any{s.Type}
	}
	for _, t := range types {
		name, ok := t.(string)
		if !ok {
			return nil, fmt.Errorf("the type %v", t)
		}
		n.types = append(n.types, name)
	}
	for _, e := range s.Enum {
		switch e.(type) {
		case string, float64, bool:
		default:
			return nil, fmt.Errorf("the enumeration has %v", e)
		}
	}
	for key, member := range s.Properties {
		if n.members[key], err = member.compile(); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	switch string(s.Additional) {
	case "", "true":
	case "false":
		n.closed = true
	default:
		if n.others, err = compileSchema(s.Additional); err != nil {
			return nil, err
		}
	}
	if n.items, err = s.Items.compile(); err != nil {
		return nil, err
	}
	if s.Pattern != "" {
		if n.pattern, err = regexp.Compile(s.Pattern); err != nil {
			return nil, err
		}
	}
	n.minimum, n.maximum = bound(s.Minimum), bound(s.Maximum)
	return n, nil
}

func bound(n *json.Number) *big.Rat {
	if n == nil {
		return nil
	}
	r, _ := new(big.Rat).SetString(n.String()) // a JSON number is one
	return r
}

// member is the schema of a member; nil if it may not be there, or be anything.
func (n *schemaNode) member(key string) *schemaNode {
	if m := n.members[key]; m != nil {
		return m
	}
	return n.others
}

// place is where a value stands, as a list from the inside out.
type place struct {
	in    *place
	key   string
	item  bool // of a list
	index int
}

func (p *place) path() []string {
	var out []string
	for ; p != nil; p = p.in {
		step := p.key
		if p.item {
			step = strconv.Itoa(p.index)
		}
		out = append(out, step)
	}
	slices.Reverse(out)
	return out
}

// value judges a value and what is in it.
func (c *schemaCheck) value(n *schemaNode, v *Value, at *place) {
	if !n.allows(v) {
		c.add(at, v, fault{faultType, strings.Join(n.types, ",")})
		return
	}
	switch v.schemaType() {
	case "number":
		c.number(n, v, at)
	case "array":
		for i, item := range v.Items {
			if n.items != nil {
				c.value(n.items, item, &place{in: at, index: i, item: true})
			}
		}
		if len(v.Items) < n.minItems {
			c.add(at, v, fault{faultItems, ""})
		}
	case "object":
		c.members(n, v, at)
	}
	if len(n.enum) > 0 && !slices.ContainsFunc(n.enum, v.is) {
		c.add(at, v, fault{faultEnum, n.alternatives()})
	}
	if v.schemaType() == "string" {
		c.text(n, v, at)
	}
}

func (c *schemaCheck) members(n *schemaNode, v *Value, at *place) {
	for _, key := range n.required {
		if v.Get(key) == nil {
			c.add(at, v, fault{faultRequired, key})
		}
	}
	for i := range v.Fields {
		f := &v.Fields[i]
		member := n.member(f.Key)
		if member == nil && n.closed {
			c.add(at, &Value{Pos: f.KeyPos}, fault{faultUnknown, f.Key})
		}
		if member != nil {
			c.value(member, f.Value, &place{in: at, key: f.Key})
		}
	}
}

func (c *schemaCheck) text(n *schemaNode, v *Value, at *place) {
	if len(v.Text) < n.minLength || n.minLength > 1 && utf8.RuneCountInString(v.Text) < n.minLength {
		c.add(at, v, fault{faultLength, ""})
	}
	// Entry after entry has the same replayId.
	if n.pattern == nil || v.Text != "" && v.Text == c.matched[n] {
		return
	}
	if !n.pattern.MatchString(v.Text) {
		c.add(at, v, fault{faultPattern, n.pattern.String()})
		return
	}
	c.matched[n] = v.Text
}

func (c *schemaCheck) number(n *schemaNode, v *Value, at *place) {
	if n.maximum != nil && v.rational().Cmp(n.maximum) > 0 {
		c.add(at, v, fault{faultMost, n.maximum.RatString()})
	}
	if n.minimum != nil && v.rational().Cmp(n.minimum) < 0 {
		c.add(at, v, fault{faultLeast, n.minimum.RatString()})
	}
}

func (n *schemaNode) allows(v *Value) bool {
	is := v.schemaType()
	return len(n.types) == 0 || slices.Contains(n.types, is) || is == "number" && slices.Contains(n.types, "integer") && v.rational().IsInt()
}

// alternatives lists the values of an enumeration for people.
func (n *schemaNode) alternatives() string {
	words := make([]string, len(n.enum))
	for i, e := range n.enum {
		words[i] = fmt.Sprint(e)
		if s, ok := e.(string); ok {
			words[i] = strconv.Quote(s)
		}
	}
	return wording.List(words, "or")
}

// schemaType is the type that a schema takes a value for. A scalar that JSON
// lacks is a number, so that a schema asking for a string rejects it; binary
// data, which YAML decodes to text, is a string.
func (v *Value) schemaType() string {
	switch v.Kind {
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case String:
		return "string"
	case List:
		return "array"
	case Map:
		return "object"
	}
	if v.Tag == binaryTag && v.Kind == Other {
		return "string"
	}
	return "number"
}

// rational is a number's value; 0 if it is too long to read or no number.
func (v *Value) rational() *big.Rat {
	r := new(big.Rat)
	if v.Kind != Number {
		return r
	}
	if d, ok := readDecimal(v); ok {
		r.SetString(d.String())
	}
	return r
}

// is reports whether a value equals one of a schema's enumeration.
func (v *Value) is(other any) bool {
	switch other := other.(type) {
	case bool:
		return v.Kind == Bool && v.truth == other
	case string:
		return v.schemaType() == "string" && v.Text == other
	case float64:
		return v.schemaType() == "number" && v.rational().Cmp(new(big.Rat).SetFloat64(other)) == 0
	}
	return false
}
