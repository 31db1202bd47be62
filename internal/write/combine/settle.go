package combine

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// settleVersions replaces in items each entry of which the sides of a configured log have different versions by the version to write: that of the side
// that changed the merge base's version. If both sides changed it, objects are merged field by field, and other entries are an error.
func (l *log) settleVersions(items []item) error {
	if l.kind.stanza.Form().ComparesWhole() {
		return nil
	}
	seen := map[small.Digest]int{}
	for i, it := range items {
		n := seen[it.Digest]
		seen[it.Digest]++
		merged := l.versions[0].findOccurrence(it.Digest, n)
		for _, v := range l.versions[1:] {
			var bases []*item
			for _, base := range v.bases {
				if b := base.findOccurrence(it.Digest, n); b != nil {
					bases = append(bases, b)
				}
			}
			var err error
			if merged, err = l.mergeVersions(bases, merged, v.findOccurrence(it.Digest, n)); err != nil {
				return err
			}
		}
		if merged != nil {
			items[i] = *merged
		}
	}
	return nil
}

// findOccurrence returns the n-th entry with a digest in a side's file, from 0; nil if there is none.
func (v *version) findOccurrence(d small.Digest, n int) *item {
	if v.byDigest == nil {
		v.byDigest = map[small.Digest][]*item{}
		for i := range v.all {
			it := &v.all[i]
			v.byDigest[it.Digest] = append(v.byDigest[it.Digest], it)
		}
	}
	if all := v.byDigest[d]; n < len(all) {
		return all[n]
	}
	return nil
}

// mergeVersions merges two versions of one entry. A missing version is nil.
func (l *log) mergeVersions(bases []*item, a, b *item) (*item, error) {
	isBase := func(it *item) bool {
		return slices.ContainsFunc(bases, func(base *item) bool { return base.Whole == it.Whole })
	}
	switch {
	case a == nil:
		return b, nil
	case b == nil, a.Whole == b.Whole && a.merged == nil, isBase(b) && !isBase(a):
		return a, nil
	case isBase(a) && !isBase(b):
		return b, nil
	}
	var base *small.Value
	if len(bases) == 1 {
		base = l.objectOf(bases[0])
	}
	ours, theirs := l.objectOf(a), l.objectOf(b)
	why := "both sides changed it"
	if ours != nil && theirs != nil {
		value, field := mergeFields(base, ours, theirs)
		if field == "" {
			out := *a
			out.merged = value
			return &out, nil
		}
		why = fmt.Sprintf("both sides changed its field %s", wording.Quote(field))
	}
	return nil, l.errCannotCopy(fmt.Sprintf("line %d of %s and line %d of %s are two versions of one entry, and %s", a.Pos.Line, a.from.displayName(), b.Pos.Line, b.from.displayName(), why))
}

// objectOf returns an entry as an object; nil if it is not an object.
func (l *log) objectOf(it *item) *small.Value {
	if it.merged != nil {
		return it.merged
	}
	if it.from.values == nil {
		it.from.values = l.kind.readValues(it.from.Data, l.Limits)
	}
	if it.index >= len(it.from.values) {
		return nil
	}
	value := it.from.values[it.index]
	if l.kind.OfText() {
		doc, problems := small.ParseJSON([]byte(value.Text), l.Limits)
		if doc == nil || len(problems) > 0 {
			return nil
		}
		value = doc.Root
	}
	if value.Kind != small.Map || slices.ContainsFunc(value.Fields, func(f small.Field) bool { return !f.HasStringKey() }) {
		return nil
	}
	return value
}

// mergeFields merges two versions of an object. base is the merge base's version, nil if there is none. If both sides changed a field in
// different ways, field is the name of the first such field; else it is empty.
func mergeFields(base, a, b *small.Value) (out *small.Value, field string) {
	merged := *a
	merged.Fields = nil
	add := func(key string, a, b *small.Value) bool {
		was := (*small.Value)(nil)
		if base != nil && base.Kind == small.Map {
			was = base.Get(key)
		}
		var value *small.Value
		switch {
		case equalValues(a, b), equalValues(b, was):
			value = a
		case equalValues(a, was):
			value = b
		case a != nil && b != nil && a.Kind == small.Map && b.Kind == small.Map:
			var inner string
			if value, inner = mergeFields(was, a, b); inner != "" {
				field = key + "." + inner
				return false
			}
		default:
			field = key
			return false
		}
		if value != nil {
			merged.Fields = append(merged.Fields, small.Field{Key: key, Value: value})
		}
		return true
	}
	for _, f := range a.Fields {
		if !add(f.Key, f.Value, b.Get(f.Key)) {
			return nil, field
		}
	}
	for _, f := range b.Fields {
		if a.Get(f.Key) == nil && !add(f.Key, nil, f.Value) {
			return nil, field
		}
	}
	return &merged, ""
}

// equalValues reports whether two values are the same; nil stands for a missing one.
func equalValues(a, b *small.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return small.EntryDigest(a) == small.EntryDigest(b)
}

// writeMerged returns the text of an entry that was merged field by field. JSON gets spaces where sample has them, the entry's text on one side.
func (l *layout) writeMerged(it item, sample []byte, isJSON bool) []byte {
	if !isJSON {
		return itemText(it.merged, l.column, l.end)
	}
	comma, colon := ",", ":"
	if bytes.Contains(sample, []byte(`": `)) {
		colon = ": "
	}
	if bytes.Contains(sample, []byte(`, "`)) {
		comma = ", "
	}
	var out strings.Builder
	writeJSON(&out, it.merged, comma, colon)
	if l.separator == nil {
		out.WriteString(l.end)
	}
	return []byte(out.String())
}

// writeJSON writes a value as JSON on one line. Numbers keep their text.
func writeJSON(out *strings.Builder, v *small.Value, comma, colon string) {
	switch v.Kind {
	case small.String:
		out.WriteString(small.JSONString(v.Text))
	case small.List:
		out.WriteString("[")
		for i, item := range v.Items {
			if i > 0 {
				out.WriteString(comma)
			}
			writeJSON(out, item, comma, colon)
		}
		out.WriteString("]")
	case small.Map:
		out.WriteString("{")
		for i, f := range v.Fields {
			if i > 0 {
				out.WriteString(comma)
			}
			out.WriteString(small.JSONString(f.Key) + colon)
			writeJSON(out, f.Value, comma, colon)
		}
		out.WriteString("}")
	case small.Null:
		out.WriteString("null")
	default:
		out.WriteString(v.Text)
	}
}

type openEntry struct {
	text []byte
	from *layout
}

// nameOpenEntries returns the open entries of a side by name. A block's name is its first line, any other entry's is all of its text, without
// white space at the ends. Later entries with the same name are numbered.
func (l *log) nameOpenEntries(one *layout) (names []string, byName map[string]openEntry) {
	byName = map[string]openEntry{}
	if one == nil {
		return nil, byName
	}
	for _, text := range one.open {
		name := string(text)
		if one.blocks {
			name = string(firstLine(text))
		}
		name = strings.TrimSpace(name)
		for n, first := 2, name; byName[name].text != nil; n++ {
			name = fmt.Sprintf("%s (%d)", first, n)
		}
		names = append(names, name)
		byName[name] = openEntry{text, one}
	}
	return names, byName
}

// mergeOpenEntries merges the open entries of the sides: it takes what only one side added, changed or deleted.
func (l *log) mergeOpenEntries(apart map[*ledger.Log]*layout) ([]openEntry, error) {
	names, merged := l.nameOpenEntries(apart[l.versions[0].written])
	for _, v := range l.versions[1:] {
		more, theirs := l.nameOpenEntries(apart[v.written])
		var before map[string]openEntry
		for i, base := range v.bases {
			_, also := l.nameOpenEntries(apart[base.written])
			if i == 0 {
				before = also
			}
			maps.DeleteFunc(before, func(name string, was openEntry) bool { return !sameText(was.text, also[name].text) })
		}
		for _, name := range slices.Concat(slices.Sorted(maps.Keys(before)), names, more) {
			a, b, was := merged[name], theirs[name], before[name]
			switch {
			case sameText(a.text, b.text), sameText(b.text, was.text):
			case sameText(a.text, was.text) && b.text == nil:
				delete(merged, name)
			case sameText(a.text, was.text):
				merged[name] = b
			default:
				return nil, l.errCannotCopy(fmt.Sprintf("both sides changed the open entry %s", wording.Quote(name)))
			}
		}
		if l.TheirsFirst {
			names = slices.Concat(more, names)
		} else {
			names = slices.Concat(names, more)
		}
	}
	var out []openEntry
	for _, name := range names {
		if one, there := merged[name]; there {
			out = append(out, one)
			delete(merged, name)
		}
	}
	return out, nil
}

// sameText reports whether two texts are the same, apart from white space at their end and LF or CR LF. nil stands for a missing text.
func sameText(a, b []byte) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	form := func(text []byte) []byte {
		return bytes.ReplaceAll(bytes.TrimRightFunc(text, unicode.IsSpace), []byte("\r\n"), []byte("\n"))
	}
	return bytes.Equal(form(a), form(b))
}

// chooseFrame returns the layout from which the text before and after the entries is taken: that of the side which changed this text. A side whose
// list is empty has no layout: its text around the list must be that of the result, or of a base.
func (l *log) chooseFrame(apart map[*ledger.Log]*layout) (*layout, error) {
	same := func(a, b *layout) bool {
		return a == nil && b == nil || a != nil && b != nil && bytes.Equal(a.frameText(), b.frameText())
	}
	errBoth := l.errCannotCopy("both sides changed the text before or after the entries")
	merged := apart[l.versions[0].written]
	for _, v := range l.versions[1:] {
		theirs := apart[v.written]
		isBase := func(one *layout) bool {
			return slices.ContainsFunc(v.bases, func(base *version) bool {
				return apart[base.written] != nil && same(apart[base.written], one) || one.isAroundEmptyList(base.Data)
			})
		}
		switch {
		case merged == nil:
			merged = theirs
		case theirs == nil, same(merged, theirs), isBase(theirs):
		case isBase(merged):
			merged = theirs
		default:
			return nil, errBoth
		}
	}
	if merged == nil {
		return nil, l.errCannotCopy("no side has its entries each on lines of its own")
	}
	if slices.ContainsFunc(l.versions, func(v *version) bool {
		return v.written != nil && apart[v.written] == nil && !l.hasBaseText(v) && !merged.isAroundEmptyList(v.Data)
	}) {
		return nil, errBoth
	}
	return merged, nil
}

// isAroundEmptyList reports whether a file has this layout's text before and after an empty list.
func (l *layout) isAroundEmptyList(data []byte) bool {
	before, after, _ := bytes.Cut(l.frameText(), []byte{0})
	text := withoutSpaces(data)
	return bytes.Equal(text, slices.Concat(before, after)) || bytes.Equal(text, slices.Concat(before, []byte("[]"), after))
}

// frameText returns the text before and after the entries, without white space.
func (l *layout) frameText() []byte {
	return withoutSpaces(slices.Concat(l.header, []byte("\n\x00"), l.footer))
}

func withoutSpaces(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// findOnlyChanged returns the only side that changed the merge bases' text, or ours if none did; nil if its file has not exactly these entries.
func (l *log) findOnlyChanged(items []item) *version {
	var changed *version
	for _, v := range l.versions {
		switch {
		case l.hasBaseText(v):
		case changed != nil:
			return nil
		default:
			changed = v
		}
	}
	if changed == nil {
		changed = l.versions[0]
	}
	if changed.written == nil || !slices.EqualFunc(changed.written.Entries, items, func(e ledger.Entry, it item) bool {
		return e.Digest == it.Digest && e.Whole == it.Whole && it.merged == nil
	}) {
		return nil
	}
	return changed
}
