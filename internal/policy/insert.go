package policy

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/yamltext"
)

// add appends stanzas to the list under key.
func (d *draft) add(key string, s stanzas, want *Policy) ([]byte, error) {
	edits, why := d.insertion(key, s)
	if why == "" {
		var text []byte
		if text, why = d.finish(edits, want); why == "" {
			return text, nil
		}
	}
	return nil, refuse(key, s, why)
}

// insertion is the change that appends stanzas, or why there is none.
func (d *draft) insertion(key string, s stanzas) (edits []yamltext.Edit, why string) {
	if d.src.At(d.src.Offset(d.root.Pos)) == '{' {
		return nil, "the file is one mapping in braces"
	}
	i := slices.IndexFunc(d.root.Fields, func(f small.Field) bool { return f.Key == key })
	if i < 0 {
		return []yamltext.Edit{d.newList(key, s)}, ""
	}
	field := d.root.Fields[i]
	if empty, ok := d.emptyList(field); ok {
		st := style{dash: field.KeyPos.Column + 1, gap: 2, eol: d.src.EOL()}
		return []yamltext.Edit{empty, d.src.InsertLines(field.KeyPos.Line+1, s.item(st))}, ""
	}
	if why := d.notBlock(field.Value); why != "" {
		return nil, why
	}
	return []yamltext.Edit{d.inBlock(field.Value, s)}, ""
}

// emptyList is the change that takes away the [] behind a key.
func (d *draft) emptyList(field small.Field) (yamltext.Edit, bool) {
	start := d.src.Offset(field.Value.Pos)
	if field.KeyPos.Line != field.Value.Pos.Line || !bytes.HasPrefix(d.src.Text[start:], []byte("[]")) {
		return yamltext.Edit{}, false
	}
	end := start + len("[]")
	if rest := d.src.Text[end:]; len(rest) == 0 || rest[0] == '\n' || rest[0] == '\r' {
		for d.src.At(start-1) == ' ' {
			start--
		}
	}
	return yamltext.Edit{Start: start, End: end}, true
}

// notBlock says why a list cannot be edited, "" if its items begin with a dash.
func (d *draft) notBlock(list *small.Value) string {
	switch d.src.At(d.src.Offset(list.Pos)) {
	case '-':
		return ""
	case '[':
		return "the list is written in brackets, not as items that begin with a dash"
	}
	return "the list is an alias, or has an anchor or a tag"
}

// newList writes a key and its first items at the end of the document, in the
// style of the file's other list.
func (d *draft) newList(key string, s stanzas) yamltext.Edit {
	indent := d.root.Fields[0].KeyPos.Column - 1
	st := style{dash: indent + 2, gap: 2, eol: d.src.EOL()}
	for _, other := range []string{"waivers", "baseline"} {
		if list := d.root.Get(other); list != nil && d.notBlock(list) == "" {
			st = d.styleOf(list)
		}
	}
	return d.src.InsertLines(d.src.End(), strings.Repeat(" ", indent)+key+":"+st.eol+s.item(st))
}

// styleOf is the style of a block list, taken from its last item.
func (d *draft) styleOf(list *small.Value) style {
	st := style{dash: list.Pos.Column - 1, gap: 2, eol: d.src.EOL()}
	if len(list.Items) == 0 {
		return st
	}
	if gap := list.Items[len(list.Items)-1].Pos.Column - list.Pos.Column; gap > 1 && gap < 10 {
		st.gap = gap
	}
	return st
}

// inBlock appends items to a block list.
func (d *draft) inBlock(list *small.Value, s stanzas) yamltext.Edit {
	st := d.styleOf(list)
	before := d.nextKey(list.Pos.Line)
	for before-1 > list.Pos.Line && d.isOutside(d.src.Line(before-1), st.dash) {
		before--
	}
	return d.src.InsertLines(before, s.item(st))
}

// nextKey is the line of the first key of the document after a line, or the
// one before which the document ends.
func (d *draft) nextKey(line int) int {
	next := math.MaxInt
	for _, f := range d.root.Fields {
		if f.KeyPos.Line > line {
			next = min(next, f.KeyPos.Line)
		}
	}
	return min(next, d.src.End())
}

// isOutside reports whether a line after a list's items belongs to what
// follows: it is blank, or a comment to the left of the dashes. Comments at
// the dashes or to the right of them go with the items.
func (d *draft) isOutside(line string, dash int) bool {
	text := strings.TrimLeft(line, " \t")
	if text == "" {
		return true
	}
	indent := len(line) - len(text)
	return text[0] == '#' && (indent < dash || indent == 0)
}

// replace changes the values of the list's item at index to the stanza's.
func (d *draft) replace(key string, index int, s stanza, want *Policy) ([]byte, error) {
	item := d.root.Get(key).Items[index]
	edits, why := d.replacement(item, s)
	if why == "" {
		var text []byte
		if text, why = d.finish(edits, want); why == "" {
			return text, nil
		}
	}
	refused := refuse(key, stanzas{s}, why)
	refused.Line = item.Pos.Line
	return nil, refused
}

// replacement is the change that gives an item the stanza's values, or why
// there is none.
func (d *draft) replacement(item *small.Value, s stanza) (edits []yamltext.Edit, why string) {
	for _, f := range item.Fields {
		text := s.value(f.Key)
		if unchanged(f.Value, text) {
			continue
		}
		start, end, ok := d.src.Scalar(f)
		if !ok {
			return nil, fmt.Sprintf("the value of %q has an anchor or a tag, is an alias, or spans lines", f.Key)
		}
		edits = append(edits, yamltext.Edit{Start: start, End: end, Text: text})
	}
	return edits, ""
}

// unchanged reports whether a value says already what is to be written.
func unchanged(v *small.Value, text string) bool {
	if s, ok := v.Str(); ok {
		return quote(s) == text
	}
	return v.Text == text
}
