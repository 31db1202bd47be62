package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// The names of the members that are read.
const hooksMember, versionMember = "hooks", "version"

// byteOrderMark begins files from some Windows editors.
const byteOrderMark = "\ufeff"

// document is a parsed settings file that keeps every byte: pack returns the text that parse read.
type document struct {
	file *File
	text []byte // as parsed: without the byte order mark, and with a line break added at the end
	mark []byte // the byte order mark, if there is one
	tree hujson.Value
	root *hujson.Object
}

// parse reads a settings file. The error names the line that the harness could not read. Its remedy, as that of every error about the file's content,
// says to correct the file; the caller adds what to type then.
func (f *File) parse(text []byte) (*document, error) {
	body := bytes.TrimPrefix(text, []byte(byteOrderMark))
	mark := text[:len(text)-len(body)]
	plain := body
	if f.comments != nil {
		plain = f.comments().ReplaceAllFunc(body, blank)
	}
	var raw json.RawMessage
	var at *json.SyntaxError
	if err := json.Unmarshal(plain, &raw); errors.As(err, &at) {
		return nil, f.errAt(plain, int(at.Offset)-1, "is not JSON as "+f.Harness.Title+" reads it: "+at.Error())
	}
	body = append(bytes.Clone(body), '\n') // hujson needs a line end after a comment
	tree, err := hujson.Parse(body)
	if err != nil {
		return nil, f.errUnusable("it is not JSON: " + wording.Clip(strings.TrimPrefix(err.Error(), "hujson: ")))
	}
	root, isObject := tree.Value.(*hujson.Object)
	if !isObject {
		return nil, f.errAt(body, tree.StartOffset, "is not a JSON object")
	}
	d := &document{f, body, mark, tree, root}
	return d, d.checkAllowed()
}

// blank replaces a comment by white space with as many lines, and leaves a string as it is.
func blank(found []byte) []byte {
	if found[0] == '"' {
		return found
	}
	return append([]byte(" "), bytes.Repeat([]byte("\n"), bytes.Count(found, []byte("\n")))...)
}

// checkAllowed returns an error if the harness would ignore the whole file.
func (d *document) checkAllowed() error {
	for _, m := range d.root.Members {
		if name := literal(m.Name); d.file.only != nil && !slices.Contains(d.file.only, name) {
			return d.file.errAt(d.text, m.Name.StartOffset, fmt.Sprintf("has %q, with which %s drops the whole file", wording.Clip(name), d.file.Harness.Title))
		}
	}
	if !d.file.versioned {
		return nil
	}
	version, err := member[hujson.Literal](d, d.root, versionMember, "a number")
	if err == nil && version.Kind() != '0' {
		err = d.file.errUnusable(fmt.Sprintf(`it has no "version": 1, without which %s drops the whole file`, d.file.Harness.Title))
	}
	return err
}

// pack returns the text of the file.
func (d *document) pack() []byte {
	text := slices.Concat(d.mark, d.tree.Pack())
	return text[:len(text)-1]
}

// errAt returns a failure about the text at an offset.
func (f *File) errAt(text []byte, offset int, what string) error {
	offset = min(max(offset, 0), len(text))
	return f.errUnusable(fmt.Sprintf("line %d: it %s", 1+bytes.Count(text[:offset], []byte("\n")), what))
}

// errUnusable returns a failure that says why the file cannot be used.
func (f *File) errUnusable(what string) error {
	return &failure.Error{
		Message: f.Path + ": " + wording.Printable(what),
		Remedy:  "Correct the file",
	}
}

// member returns the value with a name in an object; nil if there is none. A second one is an error, because JSON does not say which of the two
// counts.
func member[T hujson.ValueTrimmed](d *document, in *hujson.Object, name, kind string) (found T, err error) {
	second := false
	for _, m := range in.Members {
		if literal(m.Name) != name {
			continue
		}
		if second {
			return found, d.file.errAt(d.text, m.Name.StartOffset, fmt.Sprintf("has a second %q", name))
		}
		if found, second = m.Value.Value.(T); !second {
			return found, d.file.errAt(d.text, m.Value.StartOffset, fmt.Sprintf("has %q, which is not %s", name, kind))
		}
	}
	return found, nil
}

// literal returns the text of a JSON string; "" for any other value.
func literal(v hujson.Value) string {
	l, is := v.Value.(hujson.Literal)
	if !is || l.Kind() != '"' {
		return ""
	}
	return l.String()
}
