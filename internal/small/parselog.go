package small

import (
	"bytes"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// minPart and maxPart bound roughly how many bytes the YAML parser reads at once. Starting takes it as long as reading
// a few kilobytes, and all nodes of a part are in memory together.
const (
	minPart = 4 << 10
	maxPart = 256 << 10
)

// parseLog is the fast way of Parse for a log of plain lines. The YAML parser reads the text up to the second item,
// and plainReader the rest, as items appended to it. parseLog returns nil if the text cannot be read like this.
// FuzzParseLog compares it with parseWhole.
func parseLog(data []byte) *Document {
	start := bytes.Index(data, []byte("\n"+entriesKey)) + 1
	if !bytes.HasPrefix(data[start:], []byte(entriesKey)) {
		return nil
	}
	start += len(entriesKey)
	column := 1 + len(data[start:]) - len(bytes.TrimLeft(data[start:], " "))
	dash := Dash(column)
	if !bytes.HasPrefix(data[start:], dash) {
		return nil
	}
	second := bytes.Index(data[start:], append([]byte("\n"), dash...))
	if second < 0 {
		return nil
	}
	head, tail := data[:start+second+1], data[start+second+1:]
	doc := parsePart(head)
	if doc == nil || doc.AppendColumn(head) != column {
		return nil
	}
	r := newPlainReader(string(tail), string(dash), 1+CountLines(head))
	entries := doc.Root.Fields[len(doc.Root.Fields)-1].Value
	if entries.Items = r.readAll(entries.Items); entries.Items == nil {
		return nil
	}
	if bytes.HasSuffix(data, []byte("\n")) {
		doc.appendColumn = column
	}
	return doc
}

// parsePart parses a text in which all characters are plain; nil if it has any
// problem.
func parsePart(text []byte) *Document {
	first, second, err := scanDocuments(text)
	if err != nil || first == nil || second != nil || len(first.Content) != 1 {
		return nil
	}
	doc, _ := build(first.Content[0], len(text), Map)
	return doc
}

// plainReader reads items in the form in which the protocol's own program writes nearly all: mappings with one member
// per line, whose values are plain or quoted texts of one line without escapes, or literal blocks. The YAML parser
// reads the other items. Texts of one line share the memory of text.
type plainReader struct {
	text string
	// offset is where the next line begins, and line its number in the file.
	offset, line int
	// dashPrefix begins an item's line; nextItem is a line feed and dashPrefix.
	dashPrefix, nextItem string
	// keys are names that are known to be strings, each with its shared copy.
	keys map[string]string

	fields       []Field // of the current item
	literal      []byte  // buffer for a literal block
	scalars      builder
	lastString   string // the last text that scalars found to be a string
	unusedValues []Value
}

func newPlainReader(text, dash string, line int) *plainReader {
	return &plainReader{text: text, line: line, dashPrefix: dash, nextItem: "\n" + dash, keys: map[string]string{}}
}

// readAll appends all items of the text to items; nil if the text holds anything else.
func (r *plainReader) readAll(items []*Value) []*Value {
	for r.offset < len(r.text) {
		item := r.readItem()
		if item != nil {
			items = append(items, item)
			continue
		}
		others := r.parseItems()
		if others == nil {
			return nil
		}
		items = append(items, others...)
	}
	return items
}

// parseItems has the YAML parser read the next items: at least minPart bytes, then on to the next plain item or to
// maxPart.
func (r *plainReader) parseItems() []*Value {
	from, line := r.offset, r.line
	for r.offset < len(r.text) && r.offset-from < maxPart {
		r.skipItem()
		if at, n := r.offset, r.line; at-from >= minPart && r.readItem() != nil {
			r.offset, r.line = at, n
			break
		}
	}
	text := []byte(entriesKey + r.text[from:r.offset])
	if hasMarkerLine(text) {
		return nil
	}
	items := parsePart(text).itemsAtColumn(len(r.dashPrefix) - 1)
	for _, item := range items {
		item.moveDown(line - 2)
	}
	return items
}

// moveDown adds lines to the places of a value and of all that is in it.
func (v *Value) moveDown(lines int) {
	v.Pos.Line += lines
	for _, item := range v.Items {
		item.moveDown(lines)
	}
	for i := range v.Fields {
		v.Fields[i].KeyPos.Line += lines
		v.Fields[i].Value.moveDown(lines)
	}
}

// skipItem moves to the line of the next item, or to the end.
func (r *plainReader) skipItem() {
	n := strings.Index(r.text[r.offset:], r.nextItem) + 1
	if n == 0 {
		n = len(r.text) - r.offset
	}
	r.line += strings.Count(r.text[r.offset:r.offset+n], "\n")
	r.offset += n
}

// peekLine returns the next line, without its line feed; false if it has none.
func (r *plainReader) peekLine() (string, bool) {
	line, _, ok := strings.Cut(r.text[r.offset:], "\n")
	return line, ok
}

func (r *plainReader) consumeLine(line string) {
	r.offset += len(line) + 1
	r.line++
}

// readItem reads a plain item. For any other item it returns nil and moves nowhere.
func (r *plainReader) readItem() *Value {
	if len(r.unusedValues) < maxItemValues { // one allocation for many values takes less memory
		r.unusedValues = make([]Value, max(maxItemValues, min(256, len(r.text)/64)))
	}
	at, line, values := r.offset, r.line, r.unusedValues
	r.fields = r.fields[:0]
	item := r.newValue(Pos{r.line, len(r.dashPrefix) + 1})
	for {
		if !r.readMember() {
			r.offset, r.line, r.unusedValues = at, line, values
			return nil
		}
		if r.offset == len(r.text) || strings.HasPrefix(r.text[r.offset:], r.dashPrefix) {
			break
		}
	}
	item.Kind, item.Fields = Map, slices.Clone(r.fields)
	return item
}

// newValue takes a value from unusedValues.
func (r *plainReader) newValue(at Pos) *Value {
	v := &r.unusedValues[0]
	r.unusedValues = r.unusedValues[1:]
	*v = Value{Pos: at}
	return v
}

// Bounds of a plain item.
const (
	maxPlainKey     = 100
	maxPlainMembers = 32
	maxItemValues   = 1 + maxPlainMembers
)

// readMember reads a member of the item, with all lines of a literal block.
func (r *plainReader) readMember() bool {
	line, ok := r.peekLine()
	if !ok || len(line) <= len(r.dashPrefix) || len(r.fields) == maxPlainMembers {
		return false
	}
	if lead := line[:len(r.dashPrefix)]; len(r.fields) > 0 && strings.Trim(lead, " ") != "" {
		return false
	}
	name, text, ok := strings.Cut(line[len(r.dashPrefix):], ": ")
	if !ok || text == "" {
		return false
	}
	key, ok := r.readKey(name)
	if !ok {
		return false
	}
	v := r.newValue(Pos{r.line, len(line) - len(text) + 1})
	r.fields = append(r.fields, Field{Key: key, KeyPos: Pos{r.line, len(r.dashPrefix) + 1}, Value: v})
	r.consumeLine(line)
	v.Kind, v.Tag = String, strTag
	switch text[0] {
	case '"':
		v.Text, ok = unquote(text, `"\`)
	case '\'':
		v.Text, ok = unquote(text, `'`)
	case '|':
		v.Text, ok = r.readLiteral(text)
	default:
		if !isPlainScalar(text) {
			return false
		}
		v.Text, v.Plain = text, true
		switch {
		case isLetter(text[0]) && len(text) > len("false"): // longer words are always strings
		case text == r.lastString: // many entries share a text, such as the replayId
		default:
			r.scalars.convertScalar(&yaml.Node{Kind: yaml.ScalarNode, Value: text}, v)
			if v.Kind == String {
				r.lastString = text
			}
		}
	}
	return ok
}

// unquote returns a quoted text without its quotes; false if it has a special character.
func unquote(text, special string) (string, bool) {
	last := len(text) - 1
	if last == 0 || text[last] != text[0] || strings.ContainsAny(text[1:last], special) {
		return "", false
	}
	return text[1:last], true
}

// readKey returns the shared copy of a member's name; false unless it is a word, a string to YAML, and new in the
// item.
func (r *plainReader) readKey(name string) (string, bool) {
	known, ok := r.keys[name]
	if !ok {
		if len(name) > maxPlainKey || !isWord(name) || (&yaml.Node{Kind: yaml.ScalarNode, Value: name}).ShortTag() != strTag {
			return "", false
		}
		known = name
		r.keys[name] = name
	}
	return known, !slices.ContainsFunc(r.fields, func(f Field) bool { return f.Key == known })
}

// isWord reports whether a text is a letter, followed by letters, digits and underscores only.
func isWord(text string) bool {
	for i := range len(text) {
		if !isLetter(text[i]) && (i == 0 || text[i] != '_' && (text[i] < '0' || text[i] > '9')) {
			return false
		}
	}
	return text != ""
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isPlainScalar reports whether the rest of a line is certainly one scalar without quotes.
func isPlainScalar(text string) bool {
	if c := text[0]; !isLetter(c) && c < 0x80 && (c < '0' || c > '9') && c != '/' && c != '.' && c != '(' {
		return false
	}
	last := text[len(text)-1]
	return last != ' ' && last != ':' && strings.IndexByte(text, '\t') < 0 && !strings.Contains(text, ": ") && !strings.Contains(text, " #")
}

// readLiteral reads a literal block, after the line with its indicator.
func (r *plainReader) readLiteral(indicator string) (string, bool) {
	line, ok := r.peekLine()
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if !ok || indicator != "|" && indicator != "|-" || indent <= len(r.dashPrefix) || indent == len(line) || line[indent] == '\t' {
		return "", false
	}
	r.literal = r.literal[:0]
	for breaks := 0; r.offset < len(r.text); {
		if line, ok = r.peekLine(); !ok {
			return "", false
		}
		lead := 0
		for lead < min(indent, len(line)) && line[lead] == ' ' {
			lead++
		}
		if lead < len(line) && lead < indent {
			if line[lead] == '\t' {
				return "", false
			}
			break // the line comes after the block
		}
		r.consumeLine(line)
		if lead < len(line) {
			for ; breaks > 0; breaks-- {
				r.literal = append(r.literal, '\n')
			}
			r.literal = append(r.literal, line[indent:]...)
		}
		breaks++
	}
	if indicator == "|" {
		r.literal = append(r.literal, '\n')
	}
	return string(r.literal), true
}
