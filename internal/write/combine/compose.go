package combine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// NewEntry is a new entry: pairs of a field's key and text, in order.
type NewEntry [][2]string

// makeReconcileEntry returns the entry that makes a resolution explicit.
func (l *log) makeReconcileEntry(result *ledger.Ledger, brought []int) NewEntry {
	sides := make([]string, len(l.versions))
	for i, v := range l.versions {
		name := v.Name
		switch {
		case v.ID != "" && strings.HasPrefix(v.ID, v.Name):
			name = "commit " + v.ID
		case v.ID != "":
			name += " at " + v.ID
		}
		sides[i] = fmt.Sprintf("%s (%s)", name, wording.Count(brought[i], "entry"))
	}
	return NewEntry{
		{"task_id", ledger.ReconcileTask},
		{"timestamp", timeForNew(result, l.Now).Format(TimestampForm)},
		{"status", "completed"},
		{"evidence", "merged " + wording.List(sides, "and")},
	}
}

// text writes the entry as an item whose dash is at a column.
func (e NewEntry) text(column int, end string) []byte {
	out := small.Value{Kind: small.Map}
	for _, pair := range e {
		out.Fields = append(out.Fields, small.Field{Key: pair[0], Value: &small.Value{Kind: small.String, Text: strings.ToValidUTF8(pair[1], "?")}})
	}
	return itemText(&out, column, end)
}

// compose assembles the items' texts and then the new entry, if any, in the form of one side. An item keeps the text that findText returns. If there
// is none, or if anew is true, it is written anew.
func (l *log) compose(items []item, entry NewEntry, anew bool) ([]byte, error) {
	sides, bases := l.takeApartAll(l.versions), l.takeApartAll(l.bases)
	if len(sides) == 0 {
		return nil, l.errCannotCopy("no side has its entries one per dash, each on lines of its own")
	}
	// The text before and after the entries is from the first side that has changed it.
	frame := sides[max(slices.IndexFunc(sides, func(one *layout) bool { return !slices.ContainsFunc(bases, one.hasSameFrame) }), 0)]
	var texts [][]byte
	for _, it := range items {
		var text []byte
		if text = frame.findText(sides, bases, it); anew || text == nil {
			text = itemText(it.value, frame.column, frame.end)
		}
		texts = append(texts, text)
	}
	dropRepeatedTail(texts, bases)
	if entry != nil {
		texts = append(texts, entry.text(frame.column, frame.end))
	}
	return frame.joinEntries(texts, nil), nil
}

// layoutsOf returns the layouts of versions, without those that have none.
func layoutsOf(versions []*version, apart map[*ledger.Log]*layout) (out []*layout) {
	for _, v := range versions {
		if one := apart[v.written]; one != nil {
			out = append(out, one)
		}
	}
	return out
}

// dropRepeatedTail removes the comments behind a base's last entry from the beginning of all texts but the first one that has them: each side may have
// put its entries below these comments.
func dropRepeatedTail(texts [][]byte, bases []*layout) {
	for _, base := range bases {
		there := false
		for i, text := range texts {
			if len(base.tail) > 0 && bytes.HasPrefix(text, base.tail) {
				if there {
					texts[i] = text[len(base.tail):]
				}
				there = true
			}
		}
	}
}

// findText returns an item's text from the first side that has it in the form of this layout, if possible from one that changed the merge bases' text,
// as by a comment; nil if there is none. A side with anchors is left out, since they may mean something else here, and so is a text without a line
// break, which may change if it gets one.
func (l *layout) findText(sides, bases []*layout, it item) (text []byte) {
	for _, one := range sides {
		found := one.textOf(it)
		alike := one == l || one.column == l.column && one.end == l.end && !one.version.doc.Linked()
		if !alike || !bytes.HasSuffix(found, []byte(l.end)) {
			continue
		}
		if !slices.ContainsFunc(bases, func(base *layout) bool { return bytes.Equal(base.textOf(it), found) }) {
			return found
		}
		if text == nil {
			text = found
		}
	}
	return text
}

// textOf returns an item's text; nil if the layout's version does not have the item.
func (l *layout) textOf(it item) []byte {
	at, there := l.version.places[it.Digest]
	if !there {
		return nil
	}
	return l.entries[at]
}

// takeApartAll returns the layouts of the versions that can be taken apart.
func (l *log) takeApartAll(versions []*version) (out []*layout) {
	for _, v := range versions {
		if v.written == nil {
			continue
		}
		one, err := takeApart(v.Data, v.doc)
		if err == nil {
			one.version = v
			out = append(out, one)
		}
	}
	return out
}

// WithLineEnd ends the last line of a text, if it has no line end.
func WithLineEnd(text []byte, end string) []byte {
	if len(text) == 0 || strings.ContainsRune("\n\r", rune(text[len(text)-1])) {
		return text
	}
	return append(text, end...)
}

// composeConfigured assembles the text of a configured log from the items and the open entries. It returns the text and the number of finished
// entries in it: where only the newest entry is open, the other open ones become finished.
func (l *log) composeConfigured(items []item) ([]byte, int, error) {
	apart := map[*ledger.Log]*layout{}
	for _, v := range l.versions {
		for _, one := range append([]*version{v}, v.bases...) {
			if one.written == nil || apart[one.written] != nil {
				continue
			}
			cut, err := l.kind.takeApart(one.Data, one.written, l.Limits)
			if one == v && err != nil && !errors.Is(err, errNoItems) {
				return nil, 0, l.errCannotCopy(fmt.Sprintf("in %s, %v", one.displayName(), err))
			}
			if err == nil {
				apart[one.written] = cut
			}
		}
	}
	frame, err := l.chooseFrame(apart)
	if err != nil {
		return nil, 0, err
	}
	var texts [][]byte
	for _, it := range items {
		var text []byte
		from := apart[it.from.written]
		switch {
		case from == nil:
		case it.merged != nil:
			text = frame.writeMerged(it, from.entries[it.index], l.kind.isJSON || l.kind.OfText())
		default:
			text = l.convertText(frame, apart, it)
		}
		if text == nil {
			return nil, 0, l.errCannotCopy("their lists are written in different ways")
		}
		texts = append(texts, text)
	}
	dropRepeatedTail(texts, layoutsOf(l.bases, apart))
	open, err := l.mergeOpenEntries(apart)
	if err != nil {
		return nil, 0, err
	}
	var openTexts [][]byte
	for _, one := range open {
		text := frame.convert(one.from, one.text)
		if text == nil {
			return nil, 0, l.errCannotCopy("their lists are written in different ways")
		}
		openTexts = append(openTexts, text)
	}
	count := len(items)
	if l.kind.stanza.Form().OpenNewest {
		count += max(len(open)-1, 0)
	}
	return frame.joinEntries(texts, openTexts), count, nil
}

// convertText returns an entry's text in a form. In a list, it is from a side that changed the merge bases' text, as by a comment, if there is one;
// otherwise it is from the item's side.
func (l *log) convertText(frame *layout, apart map[*ledger.Log]*layout, it item) []byte {
	from := apart[it.from.written]
	own := frame.convert(from, from.entries[it.index])
	if l.kind.OfText() || it.from.places[it.Digest] != it.index { // or one of several equal entries
		return own
	}
	textIn := func(v *version) []byte {
		at, there := v.places[it.Digest]
		one := apart[v.written]
		if !there || one == nil || v.written.Entries[at].Whole != it.Whole {
			return nil
		}
		return frame.convert(one, one.entries[at])
	}
	for _, v := range slices.Concat([]*version{it.from}, l.versions) {
		text := textIn(v)
		if text != nil && !slices.ContainsFunc(l.bases, func(base *version) bool { return bytes.Equal(textIn(base), text) }) {
			return text
		}
	}
	return own
}

// convert returns an entry's text, which is from any layout, in the form of this one; nil if that is not possible.
func (l *layout) convert(from *layout, text []byte) []byte {
	text = slices.Clip(text)
	switch {
	case l.separator != nil || from.separator != nil:
		if l.separator == nil || from.separator == nil {
			return nil
		}
		return text
	case l.column == 0 && (l == from || l.blocks):
		return addLineEnd(text, l.end)
	case l.column == 0:
		return slices.Concat(firstLine(text), []byte(l.end))
	case l == from, l.column == from.column && l.end == from.end:
		return WithLineEnd(text, l.end)
	}
	return nil
}

// joinEntries returns the text of a log with these entries and then these open ones.
func (l *layout) joinEntries(entries, open [][]byte) []byte {
	all := slices.Concat(entries, open)
	if l.newestFirst {
		slices.Reverse(all)
	}
	if l.blocks && l.hasBlankLinesBetween() {
		for i, text := range all[:max(len(all)-1, 0)] {
			if !endsWithBlankLine(text) {
				all[i] = slices.Concat(text, []byte(l.end))
			}
		}
	}
	return slices.Concat(l.header, bytes.Join(all, l.separator), l.footer)
}

// hasBlankLinesBetween reports whether there is a blank line between all blocks, as in Markdown.
func (l *layout) hasBlankLinesBetween() bool {
	all := slices.Concat(l.entries, l.open)
	if l.newestFirst {
		slices.Reverse(all)
	}
	return !slices.ContainsFunc(all[:max(len(all)-1, 0)], func(text []byte) bool { return !endsWithBlankLine(text) })
}

// endsWithBlankLine reports whether the last line of a text is blank.
func endsWithBlankLine(text []byte) bool {
	return len(bytes.TrimSpace(text[bytes.LastIndexByte(trimLineEnd(text), '\n')+1:])) == 0
}

func (l *log) errCannotCopy(why string) *failure.Error {
	if l.kind.Configured() {
		edits := "keep each entry of all sides once"
		if len(l.kind.stanza.Identity.Only) > 0 || l.kind.stanza.Open != "" {
			edits += ", of an entry with two versions keep the one that you want"
		}
		switch {
		case l.kind.stanza.Unordered():
		case l.kind.stanza.Order == policy.NewestFirst:
			edits += ", keep each side's order, and put new entries first"
		default:
			edits += ", keep each side's order, and put new entries at the end"
		}
		return &failure.Error{
			Message: fmt.Sprintf("%s: the entries of the sides cannot be put together as they stand: %s", l.Path, why),
			Remedy:  "edit " + wording.ShellWord(l.Path) + ": " + edits + "; then `git add -- " + wording.TopPath(l.Path) + "`, `small-hook reconcile`",
		}
	}
	remedy := "write the list in its plain form on each side (a dash for each entry, a line break after the last line) and commit that, " +
		"which changes no entry; then merge again"
	if slices.ContainsFunc(l.versions, func(v *version) bool { return v.doc != nil && v.doc.Linked() }) {
		remedy = "the log uses anchors, aliases or tags: replace them by their content on each side and commit that, which changes no entry; then merge again"
	}
	return &failure.Error{Message: fmt.Sprintf("%s: the entries cannot be copied unchanged: %s", l.Path, why), Remedy: remedy, Err: ErrUndo}
}
