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
	if entries.Items = r.all(entries.Items); entries.Items == nil {
		return nil
	}
	if bytes.HasSuffix(data, []byte("\n")) {
		doc.column = column
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

// plainReader reads items as the protocol's own program writes nearly all of
// them: mappings with one member per line, whose values are plain or quoted texts
// of one line without escapes, or literal blocks. What is not of that form is
// left to the YAML parser, item by item. All texts are parts of one.
type plainReader struct {
	text string
	// at is where the next line begins, and line its number in the file.
	at, line int
	// dash begins the line of an item; next is that after a line feed.
	dash, next string
	// keys are those that are known to be strings.
	keys map[string]string

	fields  []Field // of an item
	literal []byte  // the text of a block
	scalars builder
	last    string  // the last text that the builder had to identify as a string
	values  []Value // not used yet
}

func newPlainReader(text, dash string, line int) *plainReader {
	return &plainReader{text: text, line: line, dash: dash, next: "\n" + dash, keys: map[string]string{}}
}

// all appends all items to those that come before them; nil if the text holds
// anything else.
func (r *plainReader) all(items []*Value) []*Value {
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
	text := []byte(entriesKey + r.text[from:r.at])
	if hasMarker(text) {
		return nil
	}
	items := parsePart(text).itemsAt(len(r.dash) - 1)
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
	n := strings.Index(r.text[r.at:], r.next) + 1
	if n == 0 {
		n = len(r.text) - r.at
	}
	r.line += strings.Count(r.text[r.at:r.at+n], "\n")
	r.at += n
}

// peek returns the next line, without its line feed; false if it has none.
func (r *plainReader) peek() (string, bool) {
	line, _, ok := strings.Cut(r.text[r.at:], "\n")
	return line, ok
}

func (r *plainReader) take(line string) {
	r.at += len(line) + 1
	r.line++
}

// item reads an item; nil if it is not plain, in which case it still has to be read.
func (r *plainReader) item() *Value {
	if len(r.values) < mostValues { // they are allocated some at a time, which takes less memory
		r.values = make([]Value, max(mostValues, min(256, len(r.text)/64)))
	}
	at, line, values := r.at, r.line, r.values
	r.fields = r.fields[:0]
	item := r.value(Pos{r.line, len(r.dash) + 1})
	for {
		if !r.member() {
			r.at, r.line, r.values = at, line, values
			return nil
		}
		if r.at == len(r.text) || strings.HasPrefix(r.text[r.at:], r.dash) {
			break
		}
	}
	item.Kind, item.Fields = Map, slices.Clone(r.fields)
	return item
}

// value is a new value.
func (r *plainReader) value(at Pos) *Value {
	v := &r.values[0]
	r.values = r.values[1:]
	*v = Value{Pos: at}
	return v
}

// Bounds of what is plain.
const (
	maxPlainKey     = 100
	maxPlainMembers = 32
	mostValues      = 1 + maxPlainMembers // of an item
)

// member reads a member of an item, from the key on.
func (r *plainReader) member() bool {
	line, ok := r.peek()
	if !ok || len(line) <= len(r.dash) || len(r.fields) == maxPlainMembers {
		return false
	}
	if lead := line[:len(r.dash)]; len(r.fields) > 0 && strings.Trim(lead, " ") != "" {
		return false
	}
	name, text, ok := strings.Cut(line[len(r.dash):], ": ")
	if !ok || text == "" {
		return false
	}
	key, ok := r.key(name)
	if !ok {
		return false
	}
	v := r.value(Pos{r.line, len(line) - len(text) + 1})
	r.fields = append(r.fields, Field{Key: key, KeyPos: Pos{r.line, len(r.dash) + 1}, Value: v})
	r.take(line)
	v.Kind, v.Tag = String, strTag
	switch text[0] {
	case '"':
		v.Text, ok = unquoted(text, `"\`)
	case '\'':
		v.Text, ok = unquoted(text, `'`)
	case '|':
		v.Text, ok = r.block(text)
	default:
		if !plainScalar(text) {
			return false
		}
		v.Text, v.Plain = text, true
		switch {
		case isLetter(text[0]) && len(text) > len("false"): // longer words are always strings
		case text == r.last: // entry after entry has the same replayId
		default:
			r.scalars.scalar(&yaml.Node{Kind: yaml.ScalarNode, Value: text}, v)
			if v.Kind == String {
				r.last = text
			}
		}
	}
	return ok
}

// unquoted is a text without its quotes, if there is none of the special
// characters between them.
func unquoted(text, special string) (string, bool) {
	last := len(text) - 1
	if last == 0 || text[last] != text[0] || strings.ContainsAny(text[1:last], special) {
		return "", false
	}
	return text[1:last], true
}

// key returns a member's name if it is a word, a string, and new in the item. All items share one string.
func (r *plainReader) key(name string) (string, bool) {
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

// plainScalar reports whether the rest of a line is a scalar without quotes,
// and nothing else.
func plainScalar(text string) bool {
	if c := text[0]; !isLetter(c) && c < 0x80 && (c < '0' || c > '9') && c != '/' && c != '.' && c != '(' {
		return false
	}
	last := text[len(text)-1]
	return last != ' ' && last != ':' && strings.IndexByte(text, '\t') < 0 && !strings.Contains(text, ": ") && !strings.Contains(text, " #")
}

// block reads a literal block, after the line with its indicator.
func (r *plainReader) block(indicator string) (string, bool) {
	line, ok := r.peek()
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if !ok || indicator != "|" && indicator != "|-" || indent <= len(r.dash) || indent == len(line) || line[indent] == '\t' {
		return "", false
	}
	r.literal = r.literal[:0]
	for breaks := 0; r.at < len(r.text); {
		if line, ok = r.peek(); !ok {
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
		r.take(line)
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
