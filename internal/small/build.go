package small

import (
	"fmt"
	"math"
	"strings"

	"gopkg.in/yaml.v3"
)

const (
	strTag    = "!!str"
	nullTag   = "!!null"
	boolTag   = "!!bool"
	intTag    = "!!int"
	floatTag  = "!!float"
	binaryTag = "!!binary"
	mergeTag  = "!!merge"
)

// builder turns YAML nodes into values: aliases and merge keys resolved, keys
// checked, expansion and depth bounded.
type builder struct {
	problems []Problem
	// open holds the anchored nodes that are being expanded, so that an anchor
	// that contains its own alias is noticed.
	open    map[*yaml.Node]bool
	inAlias int
	linked  bool
	// budget is how many more nodes aliases may add.
	budget int
}

// build converts a document's root node. It reports every duplicate or
// non-string key, and stops at the first thing that cannot be bounded.
func build(root *yaml.Node) (*Document, []Problem) {
	if root.Kind != yaml.MappingNode {
		return nil, []Problem{{
			Kind: ProblemYAML, Pos: position(root),
			Message: fmt.Sprintf("the document is %s; a mapping is expected", nodeKind(root)),
		}}
	}
	written, deepest := measure(root, 1)
	if deepest != nil {
		return nil, []Problem{{
			Kind: ProblemYAML, Pos: position(deepest),
			Message: fmt.Sprintf("nested deeper than %d levels", maxDepth),
		}}
	}
	b := &builder{open: map[*yaml.Node]bool{}, budget: aliasFactor*written + aliasFloor}
	value := b.value(root)
	if len(b.problems) > 0 {
		return nil, b.problems
	}
	return &Document{Root: value, linked: b.linked}, nil
}

// measure counts the nodes as written and returns the first node that lies too
// deep, if any. Aliases are not followed.
func measure(n *yaml.Node, depth int) (count int, tooDeep *yaml.Node) {
	if depth > maxDepth {
		return 0, n
	}
	count = 1
	for _, child := range n.Content {
		c, deep := measure(child, depth+1)
		if deep != nil {
			return 0, deep
		}
		count += c
	}
	return count, nil
}

func (b *builder) fail(n *yaml.Node, hint, format string, args ...any) {
	b.problems = append(b.problems, Problem{
		Kind: ProblemYAML, Pos: position(n), Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// value converts one node. It returns a null value after a problem, so that
// callers need no checks of their own.
func (b *builder) value(n *yaml.Node) *Value {
	out := &Value{Pos: position(n)}
	if b.inAlias > 0 {
		if b.budget--; b.budget < 0 {
			if b.budget == -1 {
				b.fail(n, "write the repeated content out, or drop the anchors", "aliases expand the document to more than %d times its size", aliasFactor)
			}
			return out
		}
	}
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		b.linked = true
	}
	switch n.Kind {
	case yaml.ScalarNode:
		b.scalar(n, out)
	case yaml.SequenceNode:
		out.Kind, out.block = List, n.Style&yaml.FlowStyle == 0
		out.Items = make([]*Value, 0, len(n.Content))
		for _, item := range n.Content {
			out.Items = append(out.Items, b.value(item))
		}
	case yaml.MappingNode:
		out.Kind = Map
		b.mapping(n, out)
	case yaml.AliasNode:
		return b.alias(n)
	default:
		b.fail(n, "", "an unexpected YAML node stands here")
	}
	return out
}

func (b *builder) alias(n *yaml.Node) *Value {
	b.linked = true
	target := n.Alias
	if b.open[target] {
		b.fail(n, "write the content out instead of referring to it", "the alias *%s lies inside the node that it refers to", n.Value)
		return &Value{Pos: position(n)}
	}
	b.open[target] = true
	b.inAlias++
	out := *b.value(target)
	b.inAlias--
	delete(b.open, target)
	out.Pos = position(n)
	return &out
}

func (b *builder) mapping(n *yaml.Node, out *Value) {
	b.open[n] = true
	defer delete(b.open, n)
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		name, ok := b.key(key)
		if !ok {
			continue
		}
		if first := seen[name]; first != nil {
			b.fail(key, "remove one of the two", "the key %q is there twice; it stands in line %d already", name, first.Line)
			continue
		}
		seen[name] = key
		if isMerge(key) {
			merges = append(merges, val)
			continue
		}
		out.Fields = append(out.Fields, Field{Key: name, KeyPos: position(key), Value: b.value(val)})
	}
	for _, m := range merges {
		b.merge(m, out)
	}
}

// key returns the text of a mapping's key, which must be a string.
func (b *builder) key(n *yaml.Node) (string, bool) {
	for n.Kind == yaml.AliasNode {
		b.linked = true
		n = n.Alias
	}
	if isMerge(n) {
		return n.Value, true
	}
	if n.Kind != yaml.ScalarNode {
		b.fail(n, "", "a key is %s; keys are strings", nodeKind(n))
		return "", false
	}
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		b.linked = true
	}
	var decoded any
	if n.ShortTag() == strTag {
		return n.Value, true
	}
	if err := n.Decode(&decoded); err == nil {
		if text, ok := decoded.(string); ok && n.ShortTag() != binaryTag {
			return text, true
		}
	}
	b.fail(n, fmt.Sprintf("quote it: %q", n.Value), "the key %s is read as %s; keys are strings", n.Value, strings.TrimPrefix(n.ShortTag(), "!!"))
	return "", false
}

// merge adds the members of a merge key's value (YAML 1.1 merge key type):
// what the mapping says itself wins, and of several sources the earlier one.
func (b *builder) merge(n *yaml.Node, out *Value) {
	b.linked = true
	v := b.value(n)
	sources := []*Value{v}
	if v.Kind == List {
		sources = v.Items
	}
	for _, source := range sources {
		if source.Kind != Map {
			if len(b.problems) == 0 {
				b.fail(n, "", "a merge key (<<) takes a mapping or a list of mappings, not %s", source.Kind)
			}
			return
		}
		for _, f := range source.Fields {
			if out.Get(f.Key) == nil {
				out.Fields = append(out.Fields, f)
			}
		}
	}
}

// scalar decodes a scalar as the YAML library would decode it to a Go value.
func (b *builder) scalar(n *yaml.Node, out *Value) {
	out.Tag, out.Text = n.ShortTag(), n.Value
	out.Plain = n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if out.Tag == strTag {
		out.Kind = String
		return
	}
	var decoded any
	if err := n.Decode(&decoded); err != nil {
		b.fail(n, "", "the value %q does not fit its tag %s", n.Value, n.Tag)
		return
	}
	switch v := decoded.(type) {
	case nil:
		out.Kind = Null
	case bool:
		out.Kind, out.truth = Bool, v
	case string:
		out.Kind, out.Tag = String, strTag
		if n.ShortTag() == binaryTag {
			out.Kind, out.Tag = Other, binaryTag
		}
	case int, int64, uint64:
		out.Kind, out.Tag = Number, intTag
	case float64:
		out.Kind, out.Tag = Number, floatTag
		if math.IsInf(v, 0) || math.IsNaN(v) {
			out.Kind = Other
		}
	default:
		out.Kind = Other
	}
}

func isMerge(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" && n.ShortTag() == mergeTag
}

func position(n *yaml.Node) Pos { return Pos{Line: max(n.Line, 1), Column: max(n.Column, 1)} }

func nodeKind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	case yaml.ScalarNode:
		if n.ShortTag() == nullTag {
			return "empty"
		}
		return "a single value"
	case yaml.AliasNode:
		return "an alias"
	}
	return "of an unknown kind"
}
