package policy

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/yamltext"
)

// insertion is the change that appends stanzas to the list under key.
func (d *draft) insertion(key string, s stanzas) ([]yamltext.Edit, error) {
	i := slices.IndexFunc(d.root.Fields, func(f small.Field) bool { return f.Key == key })
	if i < 0 || d.src.Flow(d.root) {
		return d.src.AppendKey(d.root, key, func(indent int) string { return s.item(d.newStyle(indent)) })
	}
	field := d.root.Fields[i]
	if empty, ok := d.emptyList(field); ok {
		st := style{dash: field.KeyPos.Column + 1, gap: 2, eol: d.src.EOL()}
		return []yamltext.Edit{empty, d.src.InsertLines(field.KeyPos.Line+1, s.item(st))}, nil
	}
	list := field.Value
	switch d.src.At(d.src.Offset(list.Pos)) {
	case '-':
		st := d.styleOf(list)
		return []yamltext.Edit{d.src.InsertLines(d.endOf(list, st.dash), s.item(st))}, nil
	case '[':
		return nil, errors.New("the list is written in brackets, not as items that begin with a dash")
	}
	return nil, errors.New("the list is an alias, or has an anchor or a tag")
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

// newStyle is the style of a new list below a key with that many spaces before
// it: that of the file's other list.
func (d *draft) newStyle(indent int) style {
	for _, other := range []string{"baseline", "waivers"} {
		if list := d.root.Get(other); list != nil && d.src.At(d.src.Offset(list.Pos)) == '-' {
			return d.styleOf(list)
		}
	}
	return style{dash: indent + 2, gap: 2, eol: d.src.EOL()}
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

// endOf is the line before which a block list ends: that of the next key, or
// of what stands in front of it and belongs to it. Blank lines do, and comments
// to the left of the dashes. Other comments go with the items.
func (d *draft) endOf(list *small.Value, dash int) int {
	end := d.src.End()
	for _, f := range d.root.Fields {
		if f.KeyPos.Line > list.Pos.Line {
			end = min(end, f.KeyPos.Line)
		}
	}
	for ; end-1 > list.Pos.Line; end-- {
		line := d.src.Line(end - 1)
		text := strings.TrimLeft(line, " \t")
		indent := len(line) - len(text)
		if text != "" && (text[0] != '#' || indent >= dash && indent > 0) {
			break
		}
	}
	return end
}

// replacement is the change that gives an item the stanza's values.
func (d *draft) replacement(item *small.Value, s stanza) (edits []yamltext.Edit, err error) {
	for _, f := range item.Fields {
		text := s.value(f.Key)
		if old, ok := f.Value.Str(); ok && quote(old) == text || !ok && f.Value.Text == text {
			continue
		}
		edit, err := d.src.Replace(f, text)
		if err != nil {
			return nil, err
		}
		edits = append(edits, edit)
	}
	return edits, nil
}
