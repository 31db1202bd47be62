package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/wording"
)

// The members of a file that are looked at.
const (
	hooksMember   = "hooks" // an array for each event
	versionMember = "version"
)

// byteOrderMark begins a file of some Windows editors.
const byteOrderMark = "\ufeff"

// document is a settings file with every byte of it: pack gives back what parse took.
type document struct {
	file *File
	text []byte // without the byte order mark, with a line break after it
	mark bool   // there is a byte order mark
	tree hujson.Value
	root *hujson.Object
}

// parse reads a settings file. The error says which line is not what the harness reads.
func (f *File) parse(text []byte) (*document, error) {
	body, mark := bytes.CutPrefix(text, []byte(byteOrderMark))
	plain := body
	if f.comments != nil {
		plain = f.comments().ReplaceAllFunc(body, blank)
	}
	var raw json.RawMessage
	var at *json.SyntaxError
	if err := json.Unmarshal(plain, &raw); errors.As(err, &at) {
		return nil, f.wrong(plain, int(at.Offset)-1, "is not JSON as "+f.Harness.Title+" reads it: "+at.Error())
	}
	d := &document{file: f, mark: mark}
	if err := d.read(append(bytes.Clone(body), '\n')); err != nil { // a comment on the last line may lack its end
		return nil, err
	}
	return d, d.allowed()
}

// blank writes spaces over a comment, and leaves a string.
func blank(found []byte) []byte {
	if found[0] == '"' {
		return found
	}
	return bytes.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, found)
}

// allowed checks what makes the harness drop the whole file.
func (d *document) allowed() error {
	for _, m := range d.root.Members {
		if name := literal(m.Name); d.file.only != nil && !slices.Contains(d.file.only, name) {
			return d.file.wrong(d.text, m.Name.StartOffset, fmt.Sprintf("has %q, with which %s drops the whole file", wording.Clip(name), d.file.Harness.Title))
		}
	}
	if !d.file.versioned {
		return nil
	}
	at, err := d.member(d.root, versionMember)
	if err != nil {
		return err
	}
	if at < 0 || d.root.Members[at].Value.Value.Kind() != '0' {
		return d.file.refuse(fmt.Sprintf(`it has no "version": 1, without which %s drops the whole file`, d.file.Harness.Title))
	}
	return nil
}

// read parses text, which ends in a line break that is not the file's.
func (d *document) read(text []byte) error {
	tree, err := hujson.Parse(text)
	if err != nil {
		return d.file.refuse("it is not JSON: " + wording.Clip(strings.TrimPrefix(err.Error(), "hujson: ")))
	}
	root, isObject := tree.Value.(*hujson.Object)
	if !isObject {
		return d.file.wrong(text, tree.StartOffset, "is not a JSON object")
	}
	d.text, d.tree, d.root = text, tree, root
	return nil
}

// pack is the file as it stands now.
func (d *document) pack() []byte {
	text := d.tree.Pack()
	if d.mark {
		return append([]byte(byteOrderMark), text[:len(text)-1]...)
	}
	return text[:len(text)-1]
}

// wrong says what is wrong with the text at offset.
func (f *File) wrong(text []byte, offset int, what string) error {
	offset = min(max(offset, 0), len(text))
	return f.refuse(fmt.Sprintf("line %d: it %s", 1+bytes.Count(text[:offset], []byte("\n")), what))
}

// refuse says that the file cannot be used as it is.
func (f *File) refuse(what string) error {
	return &failure.Error{
		Message: f.Path + ": " + wording.Printable(what),
		Remedy:  "Nothing was written. Correct the file, then type `small-hook install --agent " + f.Harness.Name + "`",
	}
}

// member finds the member of an object with this name; -1 if there is none. JSON does not say which one of two counts.
func (d *document) member(in *hujson.Object, name string) (int, error) {
	found := -1
	for i, m := range in.Members {
		if literal(m.Name) != name {
			continue
		}
		if found >= 0 {
			return 0, d.file.wrong(d.text, m.Name.StartOffset, fmt.Sprintf("has a second %q", name))
		}
		found = i
	}
	return found, nil
}

// object is the member of an object with this name, and where it starts; nil if there is none.
func (d *document) object(in *hujson.Object, name string) (*hujson.Object, int, error) {
	i, err := d.member(in, name)
	if err != nil || i < 0 {
		return nil, 0, err
	}
	value := in.Members[i].Value
	object, is := value.Value.(*hujson.Object)
	if !is {
		return nil, 0, d.file.wrong(d.text, value.StartOffset, fmt.Sprintf("has %q, which is not an object", name))
	}
	return object, value.StartOffset, nil
}

// array is the member of an object with this name, and where it starts; nil if there is none.
func (d *document) array(in *hujson.Object, name string) (*hujson.Array, int, error) {
	i, err := d.member(in, name)
	if err != nil || i < 0 {
		return nil, 0, err
	}
	value := in.Members[i].Value
	array, is := value.Value.(*hujson.Array)
	if !is {
		return nil, 0, d.file.wrong(d.text, value.StartOffset, fmt.Sprintf("has %q, which is not an array", name))
	}
	return array, value.StartOffset, nil
}

// literal is the text of a JSON string, "" for any other value.
func literal(v hujson.Value) string {
	l, is := v.Value.(hujson.Literal)
	if !is || l.Kind() != '"' {
		return ""
	}
	return l.String()
}
