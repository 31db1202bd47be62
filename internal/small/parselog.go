package small

import (
	"bytes"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// minPart and maxPart are about how many bytes of items the YAML parser is
// given at once. Starting costs it as much as a few kilobytes, and what it makes
// of a part is in memory all at once.
const (
	minPart = 4 << 10
	maxPart = 256 << 10
)

// parseLog is the fast way of Parse for a log of plain lines: its text is cut
// before its second item and at later ones, as an appended text is cut off, and
// the items are read by plainReader if they can be. It returns nil if the text
// cannot be read like this. FuzzParseLog compares it with parseWhole.
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
	doc, _ := build(first.Content[0], len(text))
	return doc
}

// plainReader reads items as the protocol's own program writes nearly all of
// them: mappings with one member per line, whose values are plain or quoted texts
// of one line without escapes, or literal blocks. What is not of that form is
// left to the YAML parser, item by item. All texts are parts of one.
type plainReader struct {
	text string
	// offset is where the next line begins, and line its number in the file.
	offset, line int
	// dashPrefix begins the line of an item; nextItem is that after a line feed.
	dashPrefix, nextItem string
	// keys are those that are known to be strings.
	keys map[string]string

	fields       []Field // of an item
	literal      []byte  // the text of a block
	scalars      builder
	lastString   string  // the last text that the builder had to identify as a string
	unusedValues []Value // not used yet
}

func newPlainReader(text, dash string, line int) *plainReader {
	return &plainReader{text: text, line: line, dashPrefix: dash, nextItem: "\n" + dash, keys: map[string]string{}}
}

// readAll appends readAll items to those that come before them; nil if the text holds
// anything else.
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

// parseItems has the YAML parser read the next item, and more up to a plain one.
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

// moveDown adds to the lines of a value and of all that is in it.
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

// skipItem goes to the next line with a dash.
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

// readItem reads an readItem; nil if it is not plain, in which case it still has to be read.
func (r *plainReader) readItem() *Value {
	if len(r.unusedValues) < maxItemValues { // they are allocated some at a time, which takes less memory
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

// newValue is a new newValue.
func (r *plainReader) newValue(at Pos) *Value {
	v := &r.unusedValues[0]
	r.unusedValues = r.unusedValues[1:]
	*v = Value{Pos: at}
	return v
}

// Bounds of what is plain.
const (
	maxPlainKey     = 100
	maxPlainMembers = 32
	maxItemValues   = 1 + maxPlainMembers // of an item
)

// readMember reads a readMember of an item, from the key on.
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
		case text == r.lastString: // entry after entry has the same replayId
		default:
			r.scalars.convertScalar(&yaml.Node{Kind: yaml.ScalarNode, Value: text}, v)
			if v.Kind == String {
				r.lastString = text
			}
		}
	}
	return ok
}

// unquote is a text without its quotes, if there is none of the special
// characters between them.
func unquote(text, special string) (string, bool) {
	last := len(text) - 1
	if last == 0 || text[last] != text[0] || strings.ContainsAny(text[1:last], special) {
		return "", false
	}
	return text[1:last], true
}

// readKey returns a member's name if it is a word, a string, and new in the item. All items share one string.
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

// isWord reports whether a text is a letter and then letters, digits and
// underscores.
func isWord(text string) bool {
	for i := range len(text) {
		if !isLetter(text[i]) && (i == 0 || text[i] != '_' && (text[i] < '0' || text[i] > '9')) {
			return false
		}
	}
	return text != ""
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isPlainScalar reports whether the rest of a line is a scalar without quotes,
// and nothing else.
func isPlainScalar(text string) bool {
	if c := text[0]; !isLetter(c) && c < 0x80 && (c < '0' || c > '9') && c != '/' && c != '.' && c != '(' {
		return false
	}
	last := text[len(text)-1]
	return last != ' ' && last != ':' && strings.IndexByte(text, '\t') < 0 && !strings.Contains(text, ": ") && !strings.Contains(text, " #")
}

// readLiteral reads a literal readLiteral, after the line with its indicator.
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
			break // it belongs to what follows
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
