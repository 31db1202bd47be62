package small

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// ParseJSON reads one JSON text (RFC 8259) whose root is an object, as Parse
// reads YAML: with places, unique keys, and bounded work. Not every JSON text is
// YAML to every reader: tabs and escaped pairs of surrogates are not.
func ParseJSON(data []byte, limits Limits) (*Document, []Problem) {
	return parseJSON(data, limits, Map)
}

// ParseJSONValue is ParseJSON for a text whose root may be any value.
func ParseJSONValue(data []byte, limits Limits) (*Document, []Problem) {
	return parseJSON(data, limits)
}

// parseJSON is ParseJSON for a text whose root is of one of some kinds, or of any if there are none.
func parseJSON(data []byte, limits Limits, kinds ...Kind) (*Document, []Problem) {
	structure, _, problem := checkText(data, limits)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	b := &jsonReader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), at: Pos{1, 1}}
	b.dec.UseNumber()
	root, err := b.readValue(1)
	if err == nil && len(kinds) > 0 && !slices.Contains(kinds, root.Kind) {
		err = b.errorAt(root.Pos, "the document is %s; %s is expected", root.Kind, kinds[0])
	}
	if err == nil {
		if rest := bytes.TrimLeft(data[b.offset:], " \t\r\n"); len(rest) > 0 {
			b.advanceTo(len(data) - len(rest))
			err = b.errorAt(b.at, "text follows the JSON value; a record is exactly one")
		}
	}
	if err != nil {
		return nil, []Problem{b.problemOf(err)}
	}
	return &Document{Root: root, Structure: structure}, nil
}

// jsonReader builds values from the tokens of a JSON text. It keeps the place
// of the next token.
type jsonReader struct {
	data   []byte
	dec    *json.Decoder
	offset int
	at     Pos
}

// jsonError is a problem at a place.
type jsonError struct{ Problem }

func (e *jsonError) Error() string { return e.Message }

func (b *jsonReader) errorAt(pos Pos, format string, args ...any) error {
	return &jsonError{Problem{Kind: ProblemYAML, Pos: pos, Message: fmt.Sprintf(format, args...)}}
}

// problemOf puts an error of the decoder into words.
func (b *jsonReader) problemOf(err error) Problem {
	var own *jsonError
	if errors.As(err, &own) {
		return own.Problem
	}
	p := Problem{Kind: ProblemYAML, Hint: "reading stopped here; the mistake may be just before"}
	var syntax *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(b.data)) == 0:
		return Problem{Kind: ProblemYAML, Pos: Pos{1, 1}, Message: "the file is empty; a mapping is expected"}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		b.advanceTo(len(b.data))
		p.Message = "not JSON: the text ends too early"
	case errors.As(err, &syntax):
		b.advanceTo(min(max(int(syntax.Offset)-1, b.offset), len(b.data)))
		p.Message = "not JSON: " + wording.Clip(syntax.Error())
	default:
		p.Message = "not JSON: " + wording.Clip(strings.TrimPrefix(err.Error(), "json: "))
	}
	p.Pos = b.at
	return p
}

// advanceTo moves the place forward to an offset.
func (b *jsonReader) advanceTo(to int) {
	for b.offset < to {
		r, n := utf8.DecodeRune(b.data[b.offset:])
		b.offset += n
		if r == '\n' {
			b.at = Pos{b.at.Line + 1, 1}
		} else {
			b.at.Column++
		}
	}
}

// skipSeparators moves to the next token, over white space and separators.
func (b *jsonReader) skipSeparators() {
	for b.offset < len(b.data) && bytes.IndexByte([]byte(" \t\r\n,:"), b.data[b.offset]) >= 0 {
		b.advanceTo(b.offset + 1)
	}
}

// readToken reads the next readToken and says where it begins.
func (b *jsonReader) readToken() (json.Token, Pos, error) {
	b.skipSeparators()
	pos := b.at
	token, err := b.dec.Token()
	if err == nil {
		b.advanceTo(int(b.dec.InputOffset()))
	}
	return token, pos, err
}

func (b *jsonReader) readValue(depth int) (*Value, error) {
	token, pos, err := b.readToken()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, b.errorAt(pos, "nested deeper than %d levels", maxDepth)
	}
	v := &Value{Pos: pos, Plain: true}
	switch t := token.(type) {
	case nil:
		v.Kind, v.Tag, v.Text = Null, nullTag, "null"
	case bool:
		v.Kind, v.Tag, v.truth, v.Text = Bool, BoolTag, t, fmt.Sprint(t)
	case json.Number:
		v.Kind, v.Tag, v.Text = Number, IntTag, t.String()
		if strings.ContainsAny(v.Text, ".eE") {
			v.Tag = FloatTag
		}
	case string:
		v.Kind, v.Tag, v.Text, v.Plain = String, strTag, t, false
	case json.Delim:
		v.Plain, v.Kind = false, List
		if t == '{' {
			v.Kind = Map
		}
		var seen memberIndex
		for b.dec.More() {
			if err := b.readElement(v, &seen, depth+1); err != nil {
				return v, err
			}
		}
		_, _, err = b.readToken()
	}
	return v, err
}

// readElement reads an item of a list, or a member of an object.
func (b *jsonReader) readElement(v *Value, seen *memberIndex, depth int) error {
	var field Field
	if v.Kind == Map {
		token, pos, err := b.readToken()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok {
			return b.errorAt(pos, "a key is expected here")
		}
		if before := seen.find(v.Fields, key); before != nil {
			return b.errorAt(pos, "duplicate key %q; it is already on line %d", wording.Clip(key), before.KeyPos.Line)
		}
		field.Key, field.KeyPos = key, pos
	}
	value, err := b.readValue(depth)
	if err != nil {
		return err
	}
	if v.Kind == List {
		v.Items = append(v.Items, value)
		return nil
	}
	field.Value = value
	v.Fields = append(v.Fields, field)
	return nil
}
