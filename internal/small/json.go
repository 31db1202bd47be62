package small

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/wording"
)

// ParseJSON reads one JSON text (RFC 8259) whose root is an object, as Parse
// reads YAML: with places, unique keys, and bounded work. Not every JSON text is
// YAML to every reader: tabs and escaped pairs of surrogates are not.
func ParseJSON(data []byte, limits Limits) (*Document, []Problem) {
	if int64(len(data)) > limits.FileSize() {
		return nil, []Problem{TooLarge(int64(len(data)), limits)}
	}
	structure, _, problem := checkText(data, limits)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	b := &jsonReader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), at: Pos{1, 1}}
	b.dec.UseNumber()
	root, err := b.value(1)
	if err == nil && root.Kind != Map {
		err = b.fail(root.Pos, "the document is %s; a mapping is expected", root.Kind)
	}
	if err == nil {
		b.skip()
		if b.offset < len(data) {
			err = b.fail(b.at, "text follows the JSON value; a record is exactly one")
		}
	}
	if err != nil {
		return nil, []Problem{b.problem(err)}
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

func (b *jsonReader) fail(pos Pos, format string, args ...any) error {
	return &jsonError{Problem{Kind: ProblemYAML, Pos: pos, Message: fmt.Sprintf(format, args...)}}
}

// problem puts an error of the decoder in words.
func (b *jsonReader) problem(err error) Problem {
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
		b.advance(len(b.data))
		p.Message = "not JSON: the text ends too early"
	case errors.As(err, &syntax):
		b.advance(min(max(int(syntax.Offset)-1, b.offset), len(b.data)))
		p.Message = "not JSON: " + wording.Clip(syntax.Error())
	default:
		p.Message = "not JSON: " + wording.Clip(strings.TrimPrefix(err.Error(), "json: "))
	}
	p.Pos = b.at
	return p
}

// advance moves the place forward to an offset.
func (b *jsonReader) advance(to int) {
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

// skip moves to the next token, over white space and what separates.
func (b *jsonReader) skip() {
	for b.offset < len(b.data) && bytes.IndexByte([]byte(" \t\r\n,:"), b.data[b.offset]) >= 0 {
		b.advance(b.offset + 1)
	}
}

// token reads the next token and says where it begins.
func (b *jsonReader) token() (json.Token, Pos, error) {
	b.skip()
	pos := b.at
	token, err := b.dec.Token()
	if err == nil {
		b.advance(int(b.dec.InputOffset()))
	}
	return token, pos, err
}

func (b *jsonReader) value(depth int) (*Value, error) {
	token, pos, err := b.token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, b.fail(pos, "nested deeper than %d levels", maxDepth)
	}
	v := &Value{Pos: pos, Plain: true}
	switch t := token.(type) {
	case nil:
		v.Kind, v.Tag, v.Text = Null, nullTag, "null"
	case bool:
		v.Kind, v.Tag, v.truth, v.Text = Bool, boolTag, t, fmt.Sprint(t)
	case json.Number:
		v.Kind, v.Tag, v.Text = Number, intTag, t.String()
		if strings.ContainsAny(v.Text, ".eE") {
			v.Tag = floatTag
		}
	case string:
		v.Kind, v.Tag, v.Text, v.Plain = String, strTag, t, false
	case json.Delim:
		v.Plain = false
		if t == '[' {
			v.Kind = List
			return v, b.items(v, depth)
		}
		v.Kind = Map
		return v, b.members(v, depth)
	}
	return v, nil
}

func (b *jsonReader) items(v *Value, depth int) error {
	for b.dec.More() {
		item, err := b.value(depth + 1)
		if err != nil {
			return err
		}
		v.Items = append(v.Items, item)
	}
	_, _, err := b.token()
	return err
}

func (b *jsonReader) members(v *Value, depth int) error {
	var seen memberIndex
	for b.dec.More() {
		token, pos, err := b.token()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok {
			return b.fail(pos, "a key is expected here")
		}
		if before := seen.find(v.Fields, key); before != nil {
			return b.fail(pos, "duplicate key %q; it is already on line %d", wording.Clip(key), before.KeyPos.Line)
		}
		value, err := b.value(depth + 1)
		if err != nil {
			return err
		}
		v.Fields = append(v.Fields, Field{Key: key, KeyPos: pos, Value: value})
	}
	_, _, err := b.token()
	return err
}
