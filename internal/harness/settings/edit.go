package settings

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/small-gate/small-gate/internal/expression"
)

// What is put in, and how it is taken out again.
//
// Into a list with members it goes behind the last one and the comments there. Into an empty list it goes just behind the opening bracket.
// A list that has to be made has white space there. So it can be seen later which lists were there: one that white space opens, and that
// holds nothing else, was made for us.

// allComments matches what stands between two values, up to the end of the last comment.
var allComments = expression.Of(`^(?:\s*(?:/\*(?s:.*?)\*/|//.*))*`)

func commentsIn(between hujson.Extra) hujson.Extra {
	return bytes.TrimSuffix(allComments().Find(between), []byte("\r"))
}

// behind puts comments before what else stands there. One that ends with its line gets its line break.
func behind(comments, rest hujson.Extra) hujson.Extra {
	if all := slices.Concat(comments, rest); all.IsValid() {
		return all
	}
	return slices.Concat(comments, hujson.Extra("\n"), rest)
}

// room makes room for one more in a list, and is what stands before it. The end is what stands before the closing bracket.
func (d *document) room(length int, end *hujson.Extra, depth int) hujson.Extra {
	if length == 0 {
		return nil
	}
	comments := commentsIn(*end)
	*end = (*end)[len(comments):]
	lineEnd, step := d.style()
	return slices.Concat(comments, hujson.Extra(lineEnd+strings.Repeat(step, depth)))
}

// add adds a member to an object.
func (d *document) add(to *hujson.Object, depth int, name, value string) error {
	made, err := d.render(value, depth)
	made.BeforeExtra = hujson.Extra(" ")
	before := d.room(len(to.Members), &to.AfterExtra, depth)
	to.Members = append(to.Members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: before, Value: hujson.String(name)}, Value: made})
	return err
}

// render reads a value, and lays it out as the file's lines are.
func (d *document) render(value string, depth int) (hujson.Value, error) {
	lineEnd, step := d.style()
	var lines bytes.Buffer
	if err := json.Indent(&lines, []byte(value), strings.Repeat(step, depth), step); err != nil {
		return hujson.Value{}, err
	}
	return hujson.Parse(bytes.ReplaceAll(lines.Bytes(), []byte("\n"), []byte(lineEnd)))
}

// style is how lines end and by what they are indented. A file that is one line stays one.
func (d *document) style() (lineEnd, step string) {
	lineEnd, step = "\n", "  "
	switch {
	case !bytes.Contains(bytes.TrimSpace(d.text), []byte("\n")):
		return " ", ""
	case bytes.Contains(d.text, []byte("\r\n")):
		lineEnd = "\r\n"
	}
	if len(d.root.Members) > 0 {
		before := d.root.Members[0].Name.BeforeExtra
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		if indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]; len(indent) > 0 && len(line) < len(before) {
			step = string(indent)
		}
	}
	return lineEnd, step
}

// without takes out of a list what goes; comments around it stay. The edges are what stands before and behind one. made says that nothing
// is left of a list that was made for what went.
func without[T any](list []T, end *hujson.Extra, edges func(*T) (before, after *hujson.Extra), goes func(*T) bool) (kept []T, made bool) {
	var loose hujson.Extra // the comments before what went
	last := false          // what went is the last one
	for i := range list {
		before, _ := edges(&list[i])
		made = made || i == 0 && len(*before) > 0
		*before = behind(loose, *before)
		if loose, last = nil, goes(&list[i]); last {
			loose = commentsIn(*before)
		} else {
			kept = append(kept, list[i])
		}
	}
	if last {
		made = made && len(kept)+len(loose)+len(commentsIn(*end)) == 0
		if len(kept) > 0 {
			_, after := edges(&kept[len(kept)-1])
			loose = slices.Concat(*after, loose)
			*after = nil // no comma
		}
		*end = behind(loose, *end)
	}
	return kept, made && last
}

func ofElement(e *hujson.Value) (before, after *hujson.Extra) { return &e.BeforeExtra, &e.AfterExtra }

func ofMember(m *hujson.ObjectMember) (before, after *hujson.Extra) {
	return &m.Name.BeforeExtra, &m.Value.AfterExtra
}
