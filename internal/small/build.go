package small

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// builder turns YAML nodes into values. It resolves aliases and merge keys, checks keys, and bounds depth and
// expansion.
type builder struct {
	problems []Problem
	// stopped is set by a problem that ends the conversion.
	stopped    bool
	linked     bool
	hasAnchors bool // anywhere in the document
	// expanding holds the anchored nodes that are being converted: an alias to one of them would never end.
	expanding map[*yaml.Node]bool
	// inAlias is the first problem of an alias's target, with the alias's place; nil if there is none.
	inAlias *Problem
	// aliasDepth counts the aliases that are being followed; outerAlias is the first of them.
	aliasDepth int
	outerAlias *yaml.Node
	// nodesLeft and bytesLeft are how much aliases may still add.
	nodesLeft, bytesLeft int
}

// build converts a document's root node, which has to be a mapping or a list, as expected; size is the text's length in bytes.
func build(root *yaml.Node, size int, expected Kind) (*Document, []Problem) {
	count, anchors := countNodes(root)
	b := &builder{
		hasAnchors: anchors,
		expanding:  map[*yaml.Node]bool{},
		bytesLeft:  min(aliasFactor*size+aliasFloorBytes, DefaultMaxFileSize),
		nodesLeft:  min(aliasFactor*count+aliasFloorNodes, maxStructure),
	}
	if kinds := map[Kind]yaml.Kind{Map: yaml.MappingNode, List: yaml.SequenceNode}; root.Kind != kinds[expected] {
		b.report(root, "", "the document is %s; %s is expected", nodeKind(root), expected)
		return nil, b.problems
	}
	value := b.convert(root, 1)
	if len(b.problems) == 0 && b.inAlias != nil {
		b.problems = []Problem{*b.inAlias}
	}
	if len(b.problems) > 0 {
		return nil, b.problems
	}
	return &Document{Root: value, linked: b.linked}, nil
}

// countNodes counts the nodes as written, without following aliases, and reports whether any has an anchor. The parser
// bounds the depth, at 10,000 levels of each style.
func countNodes(n *yaml.Node) (count int, anchors bool) {
	count, anchors = 1, n.Anchor != ""
	for _, child := range n.Content {
		c, a := countNodes(child)
		count, anchors = count+c, anchors || a
	}
	return count, anchors
}

// report adds a problem. While an alias is followed, it only keeps the first one: problems of its target are reported
// where that is written, unless that is a part of the file that is not read (nullUnknown).
func (b *builder) report(n *yaml.Node, hint, format string, args ...any) {
	if b.aliasDepth == 0 {
		b.addProblem(n, hint, format, args...)
	} else if b.inAlias == nil {
		b.inAlias = &Problem{Kind: ProblemYAML, Pos: position(b.outerAlias), Message: fmt.Sprintf(format, args...), Hint: hint}
	}
}

// stopWith adds a problem that ends the conversion.
func (b *builder) stopWith(n *yaml.Node, hint, format string, args ...any) {
	b.addProblem(n, hint, format, args...)
	b.stopped = true
}

func (b *builder) addProblem(n *yaml.Node, hint, format string, args ...any) {
	if b.stopped {
		return
	}
	if b.aliasDepth > 0 {
		n = b.outerAlias
	}
	p := Problem{Kind: ProblemYAML, Pos: position(n), Message: fmt.Sprintf(format, args...), Hint: hint}
	if len(b.problems) == maxParseProblems {
		p.Message, p.Hint = fmt.Sprintf("more than %d problems; the rest of the file is not examined", maxParseProblems), ""
		b.stopped = true
	}
	b.problems = append(b.problems, p)
}

func position(n *yaml.Node) Pos { return Pos{Line: max(n.Line, 1), Column: max(n.Column, 1)} }

// chargeAlias subtracts the node n from what aliases may add; at is the node that a problem names.
func (b *builder) chargeAlias(n, at *yaml.Node) {
	b.nodesLeft--
	b.bytesLeft -= len(n.Value)
	if b.nodesLeft < 0 || b.bytesLeft < 0 {
		b.stopWith(at, "write the repeated content out, or drop the anchors",
			"aliases make the document grow beyond %d times its size", aliasFactor)
	}
}

// convert converts one node at a depth counted from 1. After a problem it returns a null value, so that callers need
// no checks of their own.
func (b *builder) convert(n *yaml.Node, depth int) *Value {
	out := &Value{Pos: position(n)}
	if depth > maxDepth {
		b.stopWith(n, "", "nested deeper than %d levels", maxDepth)
	}
	if b.aliasDepth > 0 {
		b.chargeAlias(n, n)
	}
	if b.stopped {
		return out
	}
	b.noteLinks(n)
	if n.Anchor != "" {
		b.expanding[n] = true
		defer delete(b.expanding, n)
	}
	switch n.Kind {
	case yaml.ScalarNode:
		b.convertScalar(n, out)
	case yaml.SequenceNode:
		out.Kind, out.block = List, n.Style&yaml.FlowStyle == 0
		out.Items = make([]*Value, 0, len(n.Content))
		for i, item := range n.Content {
			out.Items = append(out.Items, b.convert(item, depth+1))
			b.releaseChildren(n, i)
		}
	case yaml.MappingNode:
		out.Kind = Map
		b.convertMapping(n, depth, out)
	case yaml.AliasNode:
		return b.convertAlias(n, depth)
	default:
		b.report(n, "", "unexpected YAML node")
	}
	return out
}

// noteLinks sets linked for a node with an anchor, an alias or an explicit tag.
func (b *builder) noteLinks(n *yaml.Node) {
	if n.Anchor != "" || n.Kind == yaml.AliasNode || n.Style&yaml.TaggedStyle != 0 {
		b.linked = true
	}
}

func (b *builder) convertAlias(n *yaml.Node, depth int) *Value {
	target := n.Alias
	if b.expanding[target] {
		b.stopWith(n, "write the content out instead of referring to it", "the alias *%s lies inside the node that it refers to", wording.Clip(n.Value))
		return &Value{Pos: position(n)}
	}
	if b.aliasDepth == 0 {
		b.outerAlias = n
	}
	b.aliasDepth++
	out := *b.convert(target, depth)
	b.aliasDepth--
	out.Pos = position(n)
	return &out
}

// releaseChildren drops converted child nodes, so that the nodes and the values of a large file are not in memory
// together. A document with anchors keeps them: aliases need the nodes again.
func (b *builder) releaseChildren(n *yaml.Node, children ...int) {
	if b.hasAnchors {
		return
	}
	for _, i := range children {
		n.Content[i] = nil
	}
}

// memberIndex finds members by key: one by one among a few, with a map among many. Fields may be appended between
// calls.
type memberIndex map[string]int

func (ix *memberIndex) find(fields []Field, key string) *Field {
	if len(fields) <= 16 {
		for i := range fields {
			if fields[i].Key == key {
				return &fields[i]
			}
		}
		return nil
	}
	if *ix == nil {
		*ix = make(memberIndex, 2*len(fields))
	}
	for i := len(*ix); i < len(fields); i++ {
		(*ix)[fields[i].Key] = i
	}
	if i, ok := (*ix)[key]; ok {
		return &fields[i]
	}
	return nil
}

func (b *builder) convertMapping(n *yaml.Node, depth int, out *Value) {
	var seen memberIndex
	otherKeys := map[string]int{} // indexes of keys that are not strings, by canonical form: 0 and 0x0 are the same key
	out.Fields = make([]Field, 0, len(n.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content) && !b.stopped; i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		if isMerge(key) {
			merges = append(merges, key, val)
			continue
		}
		field := Field{KeyPos: position(key)}
		if !b.convertKey(key, &field) {
			continue
		}
		first := seen.find(out.Fields, field.Key)
		if i, known := otherKeys[field.NonStringKey]; known && first == nil {
			first = &out.Fields[i]
		}
		if first != nil {
			b.report(key, "remove one of the two", "duplicate key %q; it is already on line %d", wording.Clip(field.Key), first.KeyPos.Line)
			continue
		}
		if !field.HasStringKey() {
			otherKeys[field.NonStringKey] = len(out.Fields)
		}
		field.Value = b.convert(val, depth+1)
		out.Fields = append(out.Fields, field)
		b.releaseChildren(n, i, i+1)
	}
	if len(merges) > 2 {
		b.report(merges[2], "give one merge key a list: <<: [*a, *b]", "duplicate key \"<<\"; it is already on line %d", position(merges[0]).Line)
	}
	if len(merges) > 0 {
		b.addMergedMembers(merges[1], depth, out, &seen)
	}
}

// addMergedMembers adds the members of a merge key's value (YAML 1.1 merge key type). The mapping's own members win,
// and those of an earlier source win over a later one's.
func (b *builder) addMergedMembers(n *yaml.Node, depth int, out *Value, seen *memberIndex) {
	b.linked = true
	sources := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	for _, source := range sources {
		target := source
		if target.Kind == yaml.AliasNode {
			target = target.Alias
		}
		if target.Kind != yaml.MappingNode {
			b.report(source, "", "a merge key (<<) takes a mapping or a list of mappings, not %s", nodeKind(target))
			return
		}
		for _, f := range b.convert(source, depth+1).Fields {
			f.Tagged = false // programs read a merged key as its text
			if seen.find(out.Fields, f.Key) == nil {
				out.Fields = append(out.Fields, f)
			}
		}
	}
}

// convertKey converts a mapping's key, which must be a scalar.
func (b *builder) convertKey(n *yaml.Node, field *Field) (ok bool) {
	b.noteLinks(n)
	at := n
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if b.aliasDepth > 0 || at != n {
		b.chargeAlias(n, at)
	}
	if n.Kind != yaml.ScalarNode {
		b.report(at, "", "a key is %s; keys are single values", nodeKind(n))
		return false
	}
	b.noteLinks(n)
	var key Value
	b.convertScalar(n, &key)
	field.Key = key.Text
	if key.Kind != String {
		field.NonStringKey = key.Canonical()
	} else if tag := n.ShortTag(); tag != strTag && tag != mergeTag {
		field.Tagged = true
	}
	return key.Tag != "" // empty if the key does not fit its tag
}

func isMerge(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" && n.ShortTag() == mergeTag
}

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
