package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/wording"
)

// Sanitize makes text that came from outside fit to stand inside one line of
// a terminal or a CI log. What could move the cursor, change the order of
// reading, hide, or begin a new line becomes a visible escape: control
// characters (\x1b, \n, \u009b), bidirectional and other format characters
// (\u202e, \u200b), line and paragraph separators, unassigned and private
// characters, and bytes that are not UTF-8 (\xff).
//
// What CI systems obey is broken by a backslash: "::" where a line could begin
// (GitHub's runner also looks behind leading space), and "##[" or "##vso["
// anywhere. Letters, accents, emoji and ordinary text of any script stay as
// they are. A backslash of the text itself is not doubled.
func Sanitize(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	if opensCommand(s) {
		b.WriteByte('\\')
	}
	for i, before := 0, rune(0); i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case isHidden(before, r):
			b.WriteString(escape(r))
		case r == '[' && endsInHashes(b.String()):
			b.WriteString(`\[`)
		default:
			b.WriteString(s[i : i+n])
		}
		before = r
		i += n
	}
	return b.String()
}

// isPlain reports whether Sanitize would return s as it is, for the common
// kinds of text.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '[' || c == ':' {
			return false
		}
	}
	return true
}

// opensCommand reports whether a line that begins with s is a workflow command
// to GitHub's runner. Other leading white space than these spaces is escaped
// and cannot stand in front.
func opensCommand(s string) bool {
	return strings.HasPrefix(strings.TrimLeftFunc(s, func(r rune) bool { return unicode.Is(unicode.Zs, r) }), "::")
}

// endsInHashes reports whether a "[" after s would complete the opening of a
// command: "##[", or "##vso[" and others with a name.
func endsInHashes[T string | []byte](s T) bool {
	i := len(s)
	for i > 0 && 'a' <= s[i-1]|0x20 && s[i-1]|0x20 <= 'z' {
		i--
	}
	return i > 1 && s[i-1] == '#' && s[i-2] == '#'
}

// isHidden reports whether a character does not show, or does something else
// than show. The selectors that choose the text or emoji form of the character
// before them are allowed after what is not ASCII: between ASCII characters
// they would only hide a command from the checks above.
func isHidden(before, r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r == 0xfe0e || r == 0xfe0f:
		return before < utf8.RuneSelf || before == 0xfe0e || before == 0xfe0f
	}
	return !unicode.IsGraphic(r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// escape writes a character as Go source would.
func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// reveal writes text so that two different texts never look the same, apart
// from letters of different scripts: as Sanitize does, with spaces as a middle
// dot, every other white space and selector escaped, and backslashes doubled.
func reveal(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == ' ':
			b.WriteString("·")
		case r == '\\':
			b.WriteString(`\\`)
		case r == '·', unicode.IsSpace(r), isHidden(0, r):
			b.WriteString(escape(r))
		case r == '[' && endsInHashes(b.String()):
			b.WriteString(`\[`)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// clip cuts s after at most limit characters, says how many follow, and
// sanitises what it keeps.
func clip(s string, limit int) string {
	end := forward(s, 0, limit)
	if end == len(s) {
		return Sanitize(s)
	}
	return Sanitize(s[:end]) + more(s[end:])
}

// more says how much text is not shown.
func more(rest string) string {
	return "… " + plural(utf8.RuneCountInString(rest), "more character")
}

// forward is the offset n characters after offset i, at most the length.
func forward(s string, i, n int) int {
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// back is the offset n characters before offset i, at least 0.
func back(s string, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}

// plural is "1 thing" or "3 things".
func plural(n int, thing string) string { return wording.Count(n, thing) }

// SanitizeLines is [Sanitize] for each line of a text.
func SanitizeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Sanitize(line)
	}
	return strings.Join(lines, "\n")
}
