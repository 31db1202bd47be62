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

// ParseJSON reads one JSON text (RFC 8259) whose root is an object, as Parse reads YAML: with places, unique keys, and
// bounded work. Some YAML readers refuse JSON with tabs; yaml.v3 refuses escaped pairs of surrogates.
func ParseJSON(data []byte, limits Limits) (*Document, []Problem) {
	return parseJSON(data, limits, Map)
}

// ParseJSONValue is ParseJSON for a text whose root may be any value.
func ParseJSONValue(data []byte, limits Limits) (*Document, []Problem) {
	return parseJSON(data, limits)
}

// parseJSON is ParseJSON for a root of one of the kinds; without kinds, the root may be any value.
func parseJSON(data []byte, limits Limits, kinds ...Kind) (*Document, []Problem) {
	structure, _, problem := checkText(data, limits)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	r := &jsonReader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), at: Pos{1, 1}, expected: "a JSON value"}
	if len(kinds) > 0 {
		r.expected = kinds[0].String()
	}
	r.dec.UseNumber()
	root, err := r.readValue(1)
	if err == nil && len(kinds) > 0 && !slices.Contains(kinds, root.Kind) {
		err = r.errorAt(root.Pos, "the document is %s; %s is expected", root.Kind, r.expected)
	}
	if err == nil {
		if rest := bytes.TrimLeft(data[r.offset:], " \t\r\n"); len(rest) > 0 {
			r.advanceTo(len(data) - len(rest))
			err = r.errorAt(r.at, "text follows the JSON value; only one is allowed")
		}
	}
	if err != nil {
		return nil, []Problem{r.problemOf(err)}
	}
	return &Document{Root: root, Structure: structure}, nil
}

// jsonReader builds values from the tokens of a JSON text. offset and at are the place of the next token.
type jsonReader struct {
	data   []byte
	dec    *json.Decoder
	offset int
	at     Pos
	// expected names the kind of root that is expected, for messages.
	expected string
}

// jsonError carries a problem as an error.
type jsonError struct{ Problem }

func (e *jsonError) Error() string { return e.Message }

func (r *jsonReader) errorAt(pos Pos, format string, args ...any) error {
	return &jsonError{Problem{Kind: ProblemYAML, Pos: pos, Message: fmt.Sprintf(format, args...)}}
}

// problemOf turns an error into a problem.
func (r *jsonReader) problemOf(err error) Problem {
	var own *jsonError
	if errors.As(err, &own) {
		return own.Problem
	}
	p := Problem{Kind: ProblemYAML, Hint: "reading stopped here; the mistake may be just before"}
	var syntax *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(r.data)) == 0:
		return Problem{Kind: ProblemYAML, Pos: Pos{1, 1}, Message: "the file is empty; " + r.expected + " is expected"}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		r.advanceTo(len(r.data))
		p.Message = "not JSON: the text ends too early"
	case errors.As(err, &syntax):
		r.advanceTo(min(max(int(syntax.Offset)-1, r.offset), len(r.data)))
		p.Message = "not JSON: " + wording.Clip(syntax.Error())
	default:
		p.Message = "not JSON: " + wording.Clip(strings.TrimPrefix(err.Error(), "json: "))
	}
	p.Pos = r.at
	return p
}

// advanceTo moves the place forward to an offset.
func (r *jsonReader) advanceTo(to int) {
	for r.offset < to {
		c, n := utf8.DecodeRune(r.data[r.offset:])
		r.offset += n
		if c == '\n' {
			r.at = Pos{r.at.Line + 1, 1}
		} else {
			r.at.Column++
		}
	}
}

// skipSeparators moves to the next token, over white space and separators.
func (r *jsonReader) skipSeparators() {
	for r.offset < len(r.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.data[r.offset]) >= 0 {
		r.advanceTo(r.offset + 1)
	}
}

// readToken reads the next token and says where it begins.
func (r *jsonReader) readToken() (json.Token, Pos, error) {
	r.skipSeparators()
	pos := r.at
	token, err := r.dec.Token()
	if err == nil {
		r.advanceTo(int(r.dec.InputOffset()))
	}
	return token, pos, err
}

func (r *jsonReader) readValue(depth int) (*Value, error) {
	token, pos, err := r.readToken()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, r.errorAt(pos, "nested deeper than %d levels", maxDepth)
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
		for r.dec.More() {
			if err := r.readElement(v, &seen, depth+1); err != nil {
				return v, err
			}
		}
		_, _, err = r.readToken()
	}
	return v, err
}

// readElement reads an item of a list, or a member of an object.
func (r *jsonReader) readElement(v *Value, seen *memberIndex, depth int) error {
	var field Field
	if v.Kind == Map {
		token, pos, err := r.readToken()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok {
			return r.errorAt(pos, "a key is expected here")
		}
		if before := seen.find(v.Fields, key); before != nil {
			return r.errorAt(pos, "duplicate key %q; it is already on line %d", wording.Clip(key), before.KeyPos.Line)
		}
		field.Key, field.KeyPos = key, pos
	}
	value, err := r.readValue(depth)
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
