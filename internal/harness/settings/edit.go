package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// list is an object's members or an array's elements, with what stands between them.
type list struct {
	length int
	before func(i int) *hujson.Extra // since the bracket or comma before it
	after  func(i int) *hujson.Extra // up to the comma behind it; nil for the last one, which has none
	end    *hujson.Extra             // before the closing bracket
	stop   func(i int) int           // where it ends in the text
	drop   func(i int)
}

func membersOf(o *hujson.Object) list {
	return list{
		length: len(o.Members), end: &o.AfterExtra,
		before: func(i int) *hujson.Extra { return &o.Members[i].Name.BeforeExtra },
		after:  func(i int) *hujson.Extra { return &o.Members[i].Value.AfterExtra },
		stop:   func(i int) int { return o.Members[i].Value.EndOffset },
		drop:   func(i int) { o.Members = slices.Delete(o.Members, i, i+1) },
	}
}

func elementsOf(a *hujson.Array) list {
	return list{
		length: len(a.Elements), end: &a.AfterExtra,
		before: func(i int) *hujson.Extra { return &a.Elements[i].BeforeExtra },
		after:  func(i int) *hujson.Extra { return &a.Elements[i].AfterExtra },
		stop:   func(i int) int { return a.Elements[i].EndOffset },
		drop:   func(i int) { a.Elements = slices.Delete(a.Elements, i, i+1) },
	}
}

// What is put in, and how it is taken out again.
//
// Into a list with members it goes behind the last one and the comments there, after white space like that member's. Into an empty list
// it goes just before the closing bracket. A list that has to be made has white space before its closing bracket. So it can be seen later
// which lists were there: one that white space closes, and that holds nothing else, was made for us.

// room makes room for one more in a list that starts at offset. It returns what stands before the new one, and the indentation of its line.
func (d *document) room(l list, offset int) (before hujson.Extra, indent string) {
	if l.length == 0 {
		before, *l.end = *l.end, nil
		return before, d.indentation(before, offset)
	}
	last := l.length - 1
	comments := commentsIn(*l.end)
	space := (*l.before(last))[len(commentsIn(*l.before(last))):]
	if len(space) == 0 {
		space = hujson.Extra(" ")
	}
	indent = d.indentation(space, l.stop(last))
	if bytes.HasSuffix(comments, []byte("\n")) {
		space = bytes.TrimPrefix(bytes.TrimPrefix(space, []byte("\r")), []byte("\n"))
	}
	*l.end = (*l.end)[len(comments):]
	return slices.Concat(comments, space), indent
}

// addMember adds a member to the object.
func (d *document) addMember(to *hujson.Object, offset int, name string, value any) error {
	before, indent := d.room(membersOf(to), offset)
	made, err := d.render(value, indent)
	if err != nil {
		return err
	}
	made.BeforeExtra = hujson.Extra(" ")
	to.Members = append(to.Members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: before, Value: hujson.String(name)}, Value: made})
	return d.again()
}

// addElement adds an element to the array.
func (d *document) addElement(to *hujson.Array, offset int, value any) error {
	before, indent := d.room(elementsOf(to), offset)
	made, err := d.render(value, indent)
	if err != nil {
		return err
	}
	made.BeforeExtra = before
	to.Elements = append(to.Elements, made)
	return d.again()
}

// again reads the document anew, so that the offsets are right.
func (d *document) again() error { return d.read(d.tree.Pack()) }

// remove takes one out of a list. Comments around it stay. If it was the only one, made says whether the list was made for it.
func remove(l list, i int) (made bool) {
	comments := commentsIn(*l.before(i))
	switch {
	case l.length == 1:
		made = len(*l.end) > 0 && len(comments)+len(commentsIn(*l.end)) == 0
		*l.end = slices.Concat(*l.before(i), *l.end)
	case i < l.length-1:
		*l.before(i + 1) = slices.Concat(comments, *l.before(i + 1))
	default:
		*l.end = slices.Concat(*l.after(i - 1), comments, *l.end)
		*l.after(i - 1) = nil
	}
	l.drop(i)
	return made
}

// commentsIn is the part of what stands between two values that ends with the last comment.
func commentsIn(between hujson.Extra) hujson.Extra {
	end := 0
	for rest := between; ; {
		start := bytes.IndexByte(rest, '/')
		if start < 0 {
			return between[:end]
		}
		closing := "\n"
		if rest[start+1] == '*' {
			closing = "*/"
		}
		length := 2 + bytes.Index(rest[start+2:], []byte(closing)) + len(closing)
		rest = rest[start+length:]
		end = len(between) - len(rest)
	}
}

// indentation is that of a line which space begins, or of the line at offset where space holds no line break.
func (d *document) indentation(space hujson.Extra, offset int) string {
	line := d.text[:offset]
	if bytes.IndexByte(space, '\n') >= 0 {
		line = space
	}
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// render writes a value as the file's lines are written: with its step of indentation and its line ends; on one line if that is how the
// whole file is.
func (d *document) render(value any, indent string) (hujson.Value, error) {
	text, err := encode(value)
	if err != nil {
		return hujson.Value{}, err
	}
	step, lineEnd := "  ", "\n"
	if len(d.root.Members) > 0 {
		if between := d.root.Members[0].Name.BeforeExtra; bytes.IndexByte(between, '\n') >= 0 {
			step = cmp.Or(d.indentation(between, 0), step)
		}
		if bytes.IndexByte(d.text[d.tree.StartOffset:d.tree.EndOffset], '\n') < 0 {
			step, lineEnd, indent = "", " ", ""
		}
	}
	if i := bytes.IndexByte(d.text[:len(d.text)-1], '\n'); i > 0 && d.text[i-1] == '\r' && lineEnd == "\n" {
		lineEnd = "\r\n"
	}
	var lines bytes.Buffer
	if err := json.Indent(&lines, text, indent, step); err != nil {
		return hujson.Value{}, err
	}
	return hujson.Parse([]byte(strings.ReplaceAll(lines.String(), "\n", lineEnd)))
}

// encode writes a value as compact JSON that people can read: <, > and & as they are.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
