package yamltext

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// AppendItems appends mappings to the block list under a root key, and adds the key if it is missing. A new list is
// indented as the one under modelKey, if there is one. Everything else stays as it was. It fails as SetMembers does.
func AppendItems(text []byte, key, modelKey string, items [][]Member, limits small.Limits) ([]byte, error) {
	s, root, err := parseText(text, limits)
	if err != nil {
		return nil, err
	}
	want := &small.Value{Kind: small.List}
	if list := root.Get(key); list != nil {
		want.Items = slices.Clone(list.Items)
	}
	for _, item := range items {
		_, value, err := parseText([]byte(Lines("", item, "\n")), limits)
		if err != nil {
			return nil, err
		}
		want.Items = append(want.Items, value)
	}
	edits, err := s.appendItems(root, key, modelKey, items)
	if err != nil {
		return nil, err
	}
	return s.applyChecked(edits, root, key, want, "there", limits)
}

// SetItems sets members of items, by index, in the list under a root key. A member that an item lacks is added after its first one. It fails as
// SetMembers does.
func SetItems(text []byte, key string, items map[int][]Member, limits small.Limits) ([]byte, error) {
	s, root, err := parseText(text, limits)
	if err != nil {
		return nil, err
	}
	list, edits := *root.Get(key), []edit(nil)
	list.Items = slices.Clone(list.Items)
	for _, index := range slices.Sorted(maps.Keys(items)) {
		_, values, err := parseText([]byte(Lines("", items[index], "\n")), limits)
		if err != nil {
			return nil, err
		}
		item := *list.Items[index]
		changes, missing, err := s.replaceMembers(&item, items[index])
		if err != nil {
			return nil, err
		}
		if len(missing) > 0 {
			added, err := s.addAfterFirst(&item, missing)
			if err != nil {
				return nil, err
			}
			changes = append(changes, added)
		}
		for _, f := range values.Fields {
			item.Fields = setField(item.Fields, f.Key, f.Value)
		}
		list.Items[index] = &item
		edits = append(edits, changes...)
	}
	return s.applyChecked(edits, root, key, &list, "there", limits)
}

// addAfterFirst adds members to an item after its first member.
func (s *source) addAfterFirst(item *small.Value, members []Member) (edit, error) {
	switch {
	case len(item.Fields) < 2:
		return edit{}, fmt.Errorf("the item has fewer than two members")
	case s.isInBraces(item):
		var text strings.Builder
		for _, m := range members {
			text.WriteString(m.Key + ": " + m.Value + ", ")
		}
		at := s.offset(item.Fields[1].KeyPos)
		return edit{at, at, text.String()}, nil
	}
	first := item.Fields[0].KeyPos
	return s.insertLines(first.Line+1, s.memberLines(members, first.Column-1)), nil
}

func (s *source) appendItems(root *small.Value, key, modelKey string, items [][]Member) ([]edit, error) {
	i := slices.IndexFunc(root.Fields, func(f small.Field) bool { return f.Key == key })
	if i < 0 || s.isInBraces(root) {
		return s.appendKey(root, key, func(indent int) string {
			if list := root.Get(modelKey); list != nil && s.hasDashes(list) {
				return s.itemLines(dashLead(list), items)
			}
			return s.itemLines(strings.Repeat(" ", indent+2)+"- ", items)
		})
	}
	field := root.Fields[i]
	list := field.Value
	if empty, ok := s.removeBrackets(field); ok {
		return []edit{empty, s.insertLines(field.KeyPos.Line+1, s.itemLines(strings.Repeat(" ", field.KeyPos.Column+1)+"- ", items))}, nil
	}
	switch {
	case s.hasDashes(list):
		return []edit{s.insertLines(s.listEndLine(root, list), s.itemLines(dashLead(list), items))}, nil
	case s.byteAt(s.offset(list.Pos)) == '[':
		return nil, errors.New("the list is written in brackets, not as items that begin with a dash")
	}
	return nil, errors.New("the list is an alias, or has an anchor or a tag")
}

func (s *source) itemLines(lead string, items [][]Member) string {
	var out strings.Builder
	for _, item := range items {
		out.WriteString(Lines(lead, item, s.eol()))
	}
	return out.String()
}

// hasDashes reports whether a list is written in items that begin with a dash.
func (s *source) hasDashes(list *small.Value) bool { return s.byteAt(s.offset(list.Pos)) == '-' }

// dashLead returns the indentation, dash and spaces before a new item, the same as before the list's last item.
func dashLead(list *small.Value) string {
	gap := 2
	if n := len(list.Items); n > 0 {
		if wide := list.Items[n-1].Pos.Column - list.Pos.Column; wide > 1 && wide < 10 {
			gap = wide
		}
	}
	return strings.Repeat(" ", list.Pos.Column-1) + "-" + strings.Repeat(" ", gap-1)
}

// removeBrackets returns the edit that removes the empty brackets after a key; false if there are none.
func (s *source) removeBrackets(field small.Field) (edit, bool) {
	start := s.offset(field.Value.Pos)
	end := s.emptyEnd(start, '[', ']')
	if field.KeyPos.Line != field.Value.Pos.Line || end == 0 {
		return edit{}, false
	}
	if rest := s.text[end:]; len(rest) == 0 || rest[0] == '\n' || rest[0] == '\r' {
		for s.byteAt(start-1) == ' ' {
			start--
		}
	}
	return edit{start: start, end: end}, true
}

// emptyEnd returns the offset after an empty pair of brackets that begins at start; 0 if there is none. Blanks may be in it.
func (s *source) emptyEnd(start int, opening, closing byte) int {
	end := start + 1
	for s.byteAt(end) == ' ' || s.byteAt(end) == '\t' {
		end++
	}
	if s.byteAt(start) != opening || s.byteAt(end) != closing {
		return 0
	}
	return end + 1
}

// listEndLine returns the number of the line after a block list: that of the next key, or of the first blank line or
// comment that belongs to this key. Comments left of the dashes or without indentation belong to the key, others to
// the items.
func (s *source) listEndLine(root, list *small.Value) int {
	end := s.documentEndLine()
	for _, f := range root.Fields {
		if f.KeyPos.Line > list.Pos.Line {
			end = min(end, f.KeyPos.Line)
		}
	}
	for ; end-1 > list.Pos.Line; end-- {
		line := s.lineText(end - 1)
		text := strings.TrimLeft(line, " \t")
		indent := len(line) - len(text)
		if text != "" && (text[0] != '#' || indent >= list.Pos.Column-1 && indent > 0) {
			break
		}
	}
	return end
}
