package small

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/xeipuuv/gojsonschema"
)

// schemaNode is what a schema requires of one value. The JSON Schema library
// judges each value without what is in it: then every problem has its place,
// and what the library collects has a bound. FuzzCheckSchema holds that to the
// library judging the document as a whole.
type schemaNode struct {
	alone   *gojsonschema.Schema
	members map[string]*schemaNode
	others  *schemaNode // the members that are not named; nil if they may be anything, or may not be there
	items   *schemaNode
}

func newNode(schema map[string]any) (n *schemaNode, err error) {
	n = &schemaNode{members: map[string]*schemaNode{}}
	alone, names := maps.Clone(schema), map[string]any{}
	part := func(of any) (node *schemaNode) {
		if text, ok := of.(map[string]any); ok && err == nil {
			node, err = newNode(text)
		}
		return node
	}
	if members, ok := schema["properties"].(map[string]any); ok {
		for key, member := range members {
			n.members[key], names[key] = part(member), true
		}
		alone["properties"] = names
	}
	if n.items = part(schema["items"]); n.items != nil {
		delete(alone, "items")
	}
	if n.others = part(schema["additionalProperties"]); n.others != nil {
		delete(alone, "additionalProperties")
	}
	if err == nil {
		n.alone, err = gojsonschema.NewSchema(gojsonschema.NewRawLoader(alone))
	}
	return n, err
}

// value judges a value and what is in it.
func (c *schemaCheck) value(n *schemaNode, v *Value, path []string) {
	if n == nil || len(c.problems) > maxSchemaProblems {
		return
	}
	unknown := map[string]gojsonschema.ResultError{} // the library finds them in no order
	for _, e := range c.alone(n, v) {
		switch e.(type) {
		case *gojsonschema.AdditionalPropertyNotAllowedError:
			unknown[fmt.Sprint(e.Details()["property"])] = e
		case *gojsonschema.InvalidTypeError:
			c.add(path, v, e)
			return
		default:
			c.add(path, v, e)
		}
	}
	for i, item := range v.Items {
		c.value(n.items, item, append(path, strconv.Itoa(i)))
	}
	for i := range v.Fields {
		f := &v.Fields[i]
		if e := unknown[f.Key]; e != nil {
			c.add(path, &Value{Pos: f.KeyPos}, e)
		}
		member := n.members[f.Key]
		if member == nil {
			member = n.others
		}
		c.value(member, f.Value, append(path, f.Key))
	}
}

// alone is what the library finds at a value without what is in it. A value like
// the last one that fits is not judged again: entries have the same keys and
// replayId, one after the other.
func (c *schemaCheck) alone(n *schemaNode, v *Value) []gojsonschema.ResultError {
	if last := c.fits[n]; last != nil && v.Kind == last.Kind && v.Tag == last.Tag && v.Text == last.Text && len(v.Items) == len(last.Items) &&
		slices.EqualFunc(v.Fields, last.Fields, func(x, y Field) bool { return x.Key == y.Key }) {
		return nil
	}
	result, err := n.alone.Validate(gojsonschema.NewRawLoader(n.shallow(v)))
	if err != nil {
		panic(fmt.Sprintf("small: a value could not be judged: %v", err)) // only loading one can fail
	}
	if result.Valid() {
		c.fits[n] = v
	}
	return result.Errors()
}

// shallow returns a value as the Go types that encoding/json uses, without what
// is in it. A scalar that JSON lacks, and a number too long to read, becomes the
// number 0, so that a schema asking for a string rejects it; binary data, which
// YAML decodes to text, stays a string.
func (n *schemaNode) shallow(v *Value) any {
	number := decimal{}
	switch {
	case v.Kind == Null:
		return nil
	case v.Kind == Bool:
		return v.truth
	case v.Kind == String, v.Tag == binaryTag:
		return v.Text
	case v.Kind == List:
		return make([]any, len(v.Items))
	case v.Kind == Map:
		out := make(map[string]any, len(v.Fields))
		for _, f := range v.Fields {
			if n.members[f.Key] != nil || len(out) <= len(n.members)+maxSchemaProblems { // no more would be listed
				out[f.Key] = nil
			}
		}
		return out
	case v.Kind == Number:
		number, _ = readDecimal(v) // 0 if it cannot be read
	}
	return json.Number(number.String())
}
