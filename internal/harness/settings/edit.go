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
	space := (*l.before(last))[commentsIn(*l.before(last)).length():]
	if len(space) == 0 {
		space = hujson.Extra(" ")
	}
	comments := commentsIn(*l.end)
	*l.end = (*l.end)[comments.length():]
	indent = d.indentation(space, l.stop(last))
	if comments.open { // the line break behind it stays, and another one like it goes here
		_, space = lineBreak(space)
		end, _ := lineBreak(*l.end)
		space = slices.Concat(end, space)
	}
	return slices.Concat(comments.text, space), indent
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
		made = len(*l.end) > 0 && comments.length()+commentsIn(*l.end).length() == 0
		*l.end = slices.Concat(*l.before(i), *l.end)
	case i < l.length-1:
		*l.before(i + 1) = comments.then(*l.before(i + 1))
	default:
		*l.end = slices.Concat(*l.after(i - 1), comments.then(*l.end))
		*l.after(i - 1) = nil
	}
	l.drop(i)
	return made
}

// comments is what stands between two values up to the end of the last comment. An open one ends with its line.
type comments struct {
	text hujson.Extra
	open bool
}

func commentsIn(between hujson.Extra) (c comments) {
	for at := 0; ; {
		start := bytes.IndexByte(between[at:], '/')
		if start < 0 {
			return c
		}
		at += start + 2
		if c.open = between[at-1] == '/'; c.open {
			at += bytes.IndexByte(between[at:], '\n')
		} else {
			at += bytes.Index(between[at:], []byte("*/")) + 2
		}
		if c.text = between[:at]; c.open {
			c.text = bytes.TrimSuffix(c.text, []byte("\r"))
		}
	}
}

func (c comments) length() int { return len(c.text) }

// then puts the comments before what else stands there.
func (c comments) then(rest hujson.Extra) hujson.Extra {
	if end, _ := lineBreak(rest); c.open && string(end) != "\n" && string(end) != "\r\n" {
		return slices.Concat(c.text, hujson.Extra("\n"), rest)
	}
	return slices.Concat(c.text, rest)
}

// lineBreak splits what stands between two values behind its first line break; before is empty if there is none.
func lineBreak(between hujson.Extra) (before, after hujson.Extra) {
	at := bytes.IndexByte(between, '\n') + 1
	return between[:at], between[at:]
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
