package small

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// The short tags of the YAML types that plain text can have.
const (
	strTag       = "!!str"
	nullTag      = "!!null"
	boolTag      = "!!bool"
	intTag       = "!!int"
	floatTag     = "!!float"
	timestampTag = "!!timestamp"
	binaryTag    = "!!binary"
	mergeTag     = "!!merge"
)

const quotedStyles = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// scalar decodes a scalar as the YAML library would decode it to a Go value:
// a tag of the file's own, such as !note, makes it a string.
func (b *builder) scalar(n *yaml.Node, out *Value) {
	tag := n.ShortTag()
	out.Text = n.Value
	out.Plain = n.Style&quotedStyles == 0
	switch tag {
	case nullTag, boolTag, intTag, floatTag, timestampTag, binaryTag:
	default:
		out.Kind, out.Tag = String, strTag
		return
	}
	if n.Style&yaml.TaggedStyle != 0 {
		var decoded any
		if err := n.Decode(&decoded); err != nil {
			b.fail(n, "", "the value does not fit its tag %s", tag)
			return
		}
		if tag == floatTag && (&yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}).ShortTag() == intTag {
			tag = intTag // !!float 0x10 is the number 16
		}
	}
	out.Tag = tag
	switch tag {
	case nullTag:
		out.Kind = Null
	case boolTag:
		out.Kind, out.truth = Bool, strings.EqualFold(n.Value, "true")
	case intTag, floatTag:
		out.Kind = Number
		if strings.ContainsAny(n.Value, "fFaA") && tag == floatTag {
			out.Kind = Other // .inf, .nan
		}
	default:
		out.Kind = Other
	}
}

// readAs names what YAML takes a scalar for, in the words of messages.
func (v *Value) readAs() string {
	switch v.Tag {
	case timestampTag:
		return "a date"
	case binaryTag:
		return "binary data"
	case floatTag:
		return "a number"
	}
	if v.Kind == Null {
		return "empty"
	}
	return v.Kind.String()
}
