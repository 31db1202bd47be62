package small

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// The short tags of YAML's scalar types.
const (
	strTag       = "!!str"
	nullTag      = "!!null"
	BoolTag      = "!!bool"
	IntTag       = "!!int"
	FloatTag     = "!!float"
	TimestampTag = "!!timestamp"
	BinaryTag    = "!!binary"
	mergeTag     = "!!merge"
)

const quotedStyles = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// convertScalar decodes a scalar as yaml.v3 decodes it to a Go value: a custom tag, such as !note, makes it a string.
func (b *builder) convertScalar(n *yaml.Node, out *Value) {
	tag := n.ShortTag()
	out.Text = n.Value
	out.Plain = n.Style&quotedStyles == 0
	switch tag {
	case nullTag, BoolTag, IntTag, FloatTag, TimestampTag, BinaryTag:
	default:
		out.Kind, out.Tag = String, strTag
		return
	}
	if n.Style&yaml.TaggedStyle != 0 {
		var decoded any
		if err := n.Decode(&decoded); err != nil {
			b.report(n, "", "the value does not fit its tag %s", tag)
			return
		}
		if tag == FloatTag && (&yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}).ShortTag() == IntTag {
			tag = IntTag // !!float 0x10 is the number 16
		}
	}
	out.Tag = tag
	switch tag {
	case nullTag:
		out.Kind = Null
	case BoolTag:
		out.Kind, out.truth = Bool, strings.EqualFold(n.Value, "true")
	case IntTag, FloatTag:
		out.Kind = Number
		if strings.ContainsAny(n.Value, "fFaA") && tag == FloatTag {
			out.Kind = Other // .inf, .nan
		}
	default:
		out.Kind = Other
	}
}
