package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/small-gate/small-gate/internal/base/expression"
)

// How hooks are added to lists (objects and arrays), and removed again.
//
// A new member of a list is put after the last one and the comments behind that; in an empty list, right after the opening bracket. A new list gets
// white space after its opening bracket. So when hooks are removed, a list that is empty then was added by us if it begins with white space.

// allComments matches the beginning of a text between two values, up to the end of the last comment.
var allComments = expression.Of(`^(?:\s*(?:/\*(?s:.*?)\*/|//.*))*`)

// commentsIn returns the beginning of the text between two values, up to the end of the last comment; empty if there is none.
func commentsIn(between hujson.Extra) hujson.Extra {
	return bytes.TrimSuffix(allComments().Find(between), []byte("\r"))
}

// joinComments joins comments and the text after them, rest, with a line break between the two if a line comment needs it.
func joinComments(comments, rest hujson.Extra) hujson.Extra {
	if all := slices.Concat(comments, rest); all.IsValid() {
		return all
	}
	return slices.Concat(comments, hujson.Extra("\n"), rest)
}

// firstLine matches the line end before, and the indentation of, the first line that begins with a name or a closing bracket.
var firstLine = expression.Of(`(\r?\n)([ \t]*)["}]`)

// add adds a member to the object or array in a value, at the end. It begins a line with the indentation of depth, unless it is the first member.
func (d *document) add(to *hujson.Value, depth int, name, value string) error {
	lineEnd, step := " ", "" // for a file without lines
	if line := firstLine().FindSubmatch(d.text); line != nil {
		lineEnd, step = string(line[1]), cmp.Or(string(line[2]), "  ")
	}
	indent := strings.Repeat(step, depth)
	var lines bytes.Buffer
	if err := json.Indent(&lines, []byte(value), indent, step); err != nil {
		return err
	}
	made, err := hujson.Parse(bytes.ReplaceAll(lines.Bytes(), []byte("\n"), []byte(lineEnd)))
	room := func(length int, end *hujson.Extra) hujson.Extra {
		if length == 0 {
			return nil
		}
		comments := commentsIn(*end)
		*end = (*end)[len(comments):]
		return joinComments(comments, hujson.Extra(lineEnd+indent))
	}
	switch list := to.Value.(type) {
	case *hujson.Object:
		made.BeforeExtra = hujson.Extra(" ")
		named := hujson.Value{BeforeExtra: room(len(list.Members), &list.AfterExtra), Value: hujson.String(name)}
		list.Members = append(list.Members, hujson.ObjectMember{Name: named, Value: made})
	case *hujson.Array:
		made.BeforeExtra = room(len(list.Elements), &list.AfterExtra)
		list.Elements = append(list.Elements, made)
	}
	return err
}

// removeItems returns a list without the members that goes selects, and keeps the comments around them; end is the text before the list's closing
// bracket. edges returns the text before and after a member. made is true if the list is empty now and was added by us.
func removeItems[T any](list []T, end *hujson.Extra, edges func(*T) (before, after *hujson.Extra), goes func(*T) bool) (kept []T, made bool) {
	var loose hujson.Extra // the comments before removed members
	last := false          // the last member was removed
	for i := range list {
		before, _ := edges(&list[i])
		made = made || i == 0 && len(*before) > 0
		*before = joinComments(loose, *before)
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
		*end = joinComments(loose, *end)
	}
	return kept, made && last
}

func edgesOfElement(e *hujson.Value) (before, after *hujson.Extra) {
	return &e.BeforeExtra, &e.AfterExtra
}

func edgesOfMember(m *hujson.ObjectMember) (before, after *hujson.Extra) {
	return &m.Name.BeforeExtra, &m.Value.AfterExtra
}
