package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/xeipuuv/gojsonschema"

	"github.com/small-gate/small-gate/internal/small"
)

// node is a schema for one value, apart from the schemas for its members and items.
// The library judges each value without its content. So every problem has its place,
// and the library collects only a limited number of problems. FuzzCheckArtifact
// compares the result with the library's for the whole document.
type node struct {
	alone   *gojsonschema.Schema
	members map[string]*node
	others  *node // for members that are not in members; nil if they may have any value, or are not allowed
	items   *node
	// anyText is true if the schema accepts every text, or every text that is not empty.
	anyText bool
}

func newNode(schema map[string]any) (n *node, err error) {
	n = &node{members: map[string]*node{}, anyText: acceptsAnyText(schema)}
	alone, names := maps.Clone(schema), map[string]any{}
	part := func(of any) (node *node) {
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

// acceptsAnyText reports whether a schema has no keywords but the type and a minLength of 1.
func acceptsAnyText(schema map[string]any) bool {
	for key, value := range schema {
		if key != "type" && (key != "minLength" || fmt.Sprint(value) != "1") {
			return false
		}
	}
	return true
}

// value judges a value and its content. Its calls may overwrite the memory after path's last element.
func (c *check) value(n *node, v *small.Value, path []string) {
	if n == nil || len(c.problems) > maxProblems {
		return
	}
	unknown := map[string]gojsonschema.ResultError{} // kept until their key's turn, because the library's order is random
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
			c.add(path, &small.Value{Pos: f.KeyPos}, e)
		}
		member := n.members[f.Key]
		if member == nil {
			member = n.others
		}
		c.value(member, f.Value, append(path, f.Key))
	}
}

// alone returns what the library finds in a value without its content. It does not
// judge a value that is like the last one that fit, because entries usually have the
// same keys and replayId, and most of their texts may be anything.
func (c *check) alone(n *node, v *small.Value) []gojsonschema.ResultError {
	likeText := func(last *small.Value) bool {
		return v.Text == last.Text || n.anyText && v.Kind == small.String && v.Text != ""
	}
	if last := c.fits[n]; last != nil && v.Kind == last.Kind && v.Tag == last.Tag && likeText(last) && len(v.Items) == len(last.Items) &&
		slices.EqualFunc(v.Fields, last.Fields, func(x, y small.Field) bool { return x.Key == y.Key }) {
		return nil
	}
	result, err := n.alone.Validate(gojsonschema.NewRawLoader(n.shallow(v)))
	if err != nil {
		panic(fmt.Sprintf("schema: a value could not be judged: %v", err)) // only loading one can fail
	}
	if result.Valid() {
		c.fits[n] = v
	}
	return result.Errors()
}

// shallow returns a value without its content in the Go types that encoding/json
// uses. A scalar that JSON lacks becomes a fraction, which no schema of the program
// accepts; a number that is too long to read becomes 0. Binary data, which YAML
// decodes to text, stays a string.
func (n *node) shallow(v *small.Value) any {
	switch {
	case v.Kind == small.Null:
		return nil
	case v.Kind == small.Bool:
		return v.IsTrue()
	case v.Kind == small.String, v.Tag == small.BinaryTag:
		return v.Text
	case v.Kind == small.List:
		return make([]any, len(v.Items))
	case v.Kind == small.Map:
		out := make(map[string]any, len(v.Fields))
		for _, f := range v.Fields {
			if n.members[f.Key] != nil || len(out) <= len(n.members)+maxProblems { // no more would be listed
				out[f.Key] = nil
			}
		}
		return out
	}
	if v.Kind == small.Other {
		return json.Number("0.5")
	}
	return json.Number(v.Number())
}
