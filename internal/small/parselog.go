package small

import (
	"bytes"
	"slices"

	"gopkg.in/yaml.v3"
)

// minPart and maxPart are about how many bytes of items the YAML parser is
// given at once. To begin costs it as much as a few kilobytes, and what it makes
// of a part is in memory together.
const (
	minPart = 4 << 10
	maxPart = 256 << 10
)

// parseLog is the fast way of Parse for a log: its text is cut before its
// second item and at later ones, as an appended text is cut off, and the items
// are read by plainReader where they can be. It returns nil if that is not
// plain. FuzzParseLog holds it to parseWhole.
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
	if second < 0 || !plainCharacters(data) || hasOddBreak(data) || hasMarker(data) {
		return nil
	}
	head, tail := data[:start+second+1], data[start+second+1:]
	doc := parsePart(head)
	if doc == nil || doc.AppendColumn(head) != column {
		return nil
	}
	r := newPlainReader(tail, dash, 1+CountLines(head))
	entries := doc.Root.Fields[len(doc.Root.Fields)-1].Value
	if entries.Items = r.all(entries.Items); entries.Items == nil {
		return nil
	}
	return doc
}

// parsePart parses a text in which all characters are plain; nil if it has any
// problem.
func parsePart(text []byte) *Document {
	first, second, err := scan(text)
	if err != nil || first == nil || second != nil || len(first.Content) != 1 {
		return nil
	}
	doc, _ := build(first.Content[0], len(text))
	return doc
}

// plainCharacters reports whether a text has no character that the parser
// refuses, or takes for something else than text.
func plainCharacters(data []byte) bool {
	for i, c := range data {
		switch {
		case c >= 0x20 && c < 0x7f, c == '\n', c == '\t':
		case c < 0x80:
			return false
		case c == 0xc2: // U+0080 to U+009F
			if data[i+1] < 0xa0 {
				return false
			}
		case c == 0xef: // U+FEFF, U+FFFE, U+FFFF
			if data[i+1] == 0xbb && data[i+2] == 0xbf || data[i+1] == 0xbf && data[i+2] >= 0xbe {
				return false
			}
		}
	}
	return true
}

// plainReader reads items as the protocol's own program writes nearly all of
// them: mappings with a member a line, whose values are plain or quoted texts
// of one line without escapes, or literal blocks. What is not of that form is
// left to the YAML parser, item by item.
type plainReader struct {
	text []byte
	// at is where the next line begins, and line its number in the file.
	at, line int
	// dash begins the line of an item; next is that with what ends the line before.
	dash, next []byte
	// keys are those that are known to be strings.
	keys map[string]string

	// members are those of an item, and texts their texts.
	members []plainMember
	texts   []byte
	scalars builder
	node    yaml.Node // a scalar, given to scalars again and again
	values  []Value   // to be used
}

// plainMember is a member of an item, and where it stands.
type plainMember struct {
	key          string
	from, to     int // its text in texts
	style        yaml.Style
	line, column int // the column is the value's
}

func newPlainReader(text, dash []byte, line int) *plainReader {
	return &plainReader{
		text: text, line: line, dash: dash, next: slices.Concat([]byte("\n"), dash),
		keys: map[string]string{}, node: yaml.Node{Kind: yaml.ScalarNode},
	}
}

// all appends all items to some that stand before them; nil if the text holds
// anything else.
func (r *plainReader) all(items []*Value) []*Value {
	items = slices.Grow(items, 1+bytes.Count(r.text, r.next))
	for r.at < len(r.text) {
		item := r.item()
		if item != nil {
			items = append(items, item)
			continue
		}
		others := r.others()
		if others == nil {
			return nil
		}
		items = append(items, others...)
	}
	return items
}

// others has the YAML parser read the next item, and more up to a plain one.
func (r *plainReader) others() []*Value {
	from, line := r.at, r.line
	for r.at < len(r.text) && r.at-from < maxPart {
		r.skip()
		if at, n := r.at, r.line; at-from >= minPart && r.item() != nil {
			r.at, r.line = at, n
			break
		}
	}
	items := parsePart(slices.Concat([]byte(entriesKey), r.text[from:r.at])).itemsAt(len(r.dash) - 1)
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

// skip goes to the next line with a dash.
func (r *plainReader) skip() {
	n := bytes.Index(r.text[r.at:], r.next) + 1
	if n == 0 {
		n = len(r.text) - r.at
	}
	r.line += CountLines(r.text[r.at : r.at+n])
	r.at += n
}

// peek returns the next line, without its line feed; false if it has none.
func (r *plainReader) peek() ([]byte, bool) {
	n := bytes.IndexByte(r.text[r.at:], '\n')
	if n < 0 {
		return nil, false
	}
	return r.text[r.at : r.at+n], true
}

func (r *plainReader) take(line []byte) {
	r.at += len(line) + 1
	r.line++
}

// item reads an item; nil if it is not plain, and then it is still to be read.
func (r *plainReader) item() *Value {
	at, line := r.at, r.line
	r.members, r.texts = r.members[:0], r.texts[:0]
	for {
		if !r.member() {
			r.at, r.line = at, line
			return nil
		}
		if r.at == len(r.text) || bytes.HasPrefix(r.text[r.at:], r.dash) {
			break
		}
	}
	texts := string(r.texts)
	item := r.value()
	*item = Value{Kind: Map, Pos: Pos{line, len(r.dash) + 1}, Fields: make([]Field, len(r.members))}
	for i, m := range r.members {
		v := r.value()
		v.Pos = Pos{m.line, m.column}
		r.node.Value, r.node.Style = texts[m.from:m.to], m.style
		r.scalars.scalar(&r.node, v)
		item.Fields[i] = Field{Key: m.key, KeyPos: Pos{m.line, len(r.dash) + 1}, Value: v}
	}
	return item
}

// value is a new value. They are made some at a time, which takes less memory.
func (r *plainReader) value() *Value {
	if len(r.values) == 0 {
		r.values = make([]Value, min(256, 1+len(r.text)/64))
	}
	v := &r.values[0]
	r.values = r.values[1:]
	return v
}

// Bounds of what is plain.
const (
	maxPlainKey     = 100
	maxPlainMembers = 32
)

// member reads a member of an item, from the key on.
func (r *plainReader) member() bool {
	line, ok := r.peek()
	if !ok || len(line) <= len(r.dash) || len(r.members) == maxPlainMembers {
		return false
	}
	if lead := line[:len(r.dash)]; len(r.members) > 0 && len(bytes.Trim(lead, " ")) > 0 {
		return false
	}
	name, value, ok := bytes.Cut(line[len(r.dash):], []byte(": "))
	if !ok || len(value) == 0 {
		return false
	}
	m := plainMember{line: r.line, column: len(line) - len(value) + 1, from: len(r.texts)}
	if m.key, ok = r.key(name); !ok {
		return false
	}
	r.take(line)
	switch value[0] {
	case '"':
		m.style, ok = yaml.DoubleQuotedStyle, r.quoted(value, `"\`)
	case '\'':
		m.style, ok = yaml.SingleQuotedStyle, r.quoted(value, `'`)
	case '|':
		m.style, ok = yaml.LiteralStyle, r.literal(string(value))
	default:
		ok = plainScalar(value)
		r.texts = append(r.texts, value...)
	}
	m.to = len(r.texts)
	r.members = append(r.members, m)
	return ok
}

// quoted reads a text in quotes, the first of the special characters, if it has
// none of these in it.
func (r *plainReader) quoted(value []byte, special string) bool {
	last := len(value) - 1
	if last == 0 || value[last] != value[0] || bytes.ContainsAny(value[1:last], special) {
		return false
	}
	r.texts = append(r.texts, value[1:last]...)
	return true
}

// key returns a member's name if it is a word, a string, and new in the item.
func (r *plainReader) key(name []byte) (string, bool) {
	known, ok := r.keys[string(name)]
	if !ok {
		if len(name) == 0 || len(name) > maxPlainKey || !isWord(name) {
			return "", false
		}
		known = string(name)
		if (&yaml.Node{Kind: yaml.ScalarNode, Value: known}).ShortTag() != strTag {
			return "", false
		}
		r.keys[known] = known
	}
	for i := range r.members {
		if r.members[i].key == known {
			return "", false
		}
	}
	return known, true
}

// isWord reports whether a text is a letter and then letters, digits and low
// lines.
func isWord(text []byte) bool {
	for i := range len(text) {
		if !isLetter(text[i]) && (i == 0 || text[i] != '_' && (text[i] < '0' || text[i] > '9')) {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// plainScalar reports whether the rest of a line is a scalar without quotes,
// and nothing else.
func plainScalar(text []byte) bool {
	if c := text[0]; !isLetter(c) && c < 0x80 && (c < '0' || c > '9') && c != '/' && c != '.' && c != '(' {
		return false
	}
	for i := range len(text) {
		switch text[i] {
		case '\t':
			return false
		case ':':
			if i+1 == len(text) || text[i+1] == ' ' {
				return false
			}
		case '#':
			if text[i-1] == ' ' {
				return false
			}
		}
	}
	return text[len(text)-1] != ' '
}

// literal reads a literal block, behind the line with its indicator.
func (r *plainReader) literal(indicator string) bool {
	line, ok := r.peek()
	indent := len(line) - len(bytes.TrimLeft(line, " "))
	if !ok || indicator != "|" && indicator != "|-" || indent <= len(r.dash) || indent == len(line) || line[indent] == '\t' {
		return false
	}
	for breaks := 0; r.at < len(r.text); {
		if line, ok = r.peek(); !ok {
			return false
		}
		lead := 0
		for lead < min(indent, len(line)) && line[lead] == ' ' {
			lead++
		}
		if lead < len(line) && lead < indent {
			if line[lead] == '\t' {
				return false
			}
			break // it belongs to what follows
		}
		r.take(line)
		if lead < len(line) {
			for ; breaks > 0; breaks-- {
				r.texts = append(r.texts, '\n')
			}
			r.texts = append(r.texts, line[indent:]...)
		}
		breaks++
	}
	if indicator == "|" {
		r.texts = append(r.texts, '\n')
	}
	return true
}
