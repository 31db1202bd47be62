// Package sanitize makes text that others wrote safe to print: in one line, in a few, shortened, compared with another text, or inside
// JSON. What a terminal or a CI system would obey is escaped, and credentials are masked. Formats with a syntax of their own escape for
// that as well.
package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// Line makes a text safe in one line of a terminal or a CI log. Characters that could move the cursor, change the order of reading,
// hide, or begin a new line become visible escapes: control characters (\x1b, \n, \u009b), bidirectional and other format characters
// (\u202e, \u200b), line and paragraph separators, unassigned and private characters, and bytes that are not UTF-8 (\xff).
//
// It puts a backslash into what CI systems take as a command: "::" at the beginning (GitHub's runner skips leading space), and "##[" or "##vso["
// anywhere. Letters, accents, emoji and ordinary text of any script are unchanged, but for the format characters that some have (U+200D joins emoji).
// A backslash in the text itself is not doubled. Credentials are masked.
func Line(s string) string {
	s = secret.Mask(s)
	if isPlain(s) {
		return s
	}
	clean := rewrite(s, `\[`, func(before, r rune) string {
		if isHidden(before, r) {
			return escape(r)
		}
		return ""
	})
	if OpensCommand(s) {
		return `\` + clean
	}
	return clean
}

// rewrite replaces bytes that are not UTF-8 by escapes, a "[" that would open a command by bracket, and each other character by the result of instead,
// which also gets the character before it. If the result is "", the character stays.
func rewrite(s, bracket string, instead func(before, r rune) string) string {
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i, before := 0, rune(0); i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		text := instead(before, r)
		switch {
		case r == utf8.RuneError && n == 1:
			text = fmt.Sprintf(`\x%02x`, s[i])
		case r == '[' && endsInHashes(b.String()):
			text = bracket
		case text == "":
			text = s[i : i+n]
		}
		b.WriteString(text)
		before = r
		i += n
	}
	return b.String()
}

// isPlain reports whether a text needs no change. It may be false for such a text; it is quick.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '[' || c == ':' {
			return false
		}
	}
	return true
}

// OpensCommand reports whether GitHub's runner would take a line that begins with s as a command. It skips leading spaces; Line escapes all other white
// space.
func OpensCommand(s string) bool {
	return strings.HasPrefix(strings.TrimLeftFunc(s, func(r rune) bool { return unicode.Is(unicode.Zs, r) }), "::")
}

// endsInHashes reports whether a "[" after s would open a command: "##[", or
// "##vso[" and others with a name.
func endsInHashes(s string) bool {
	i := len(s)
	for i > 0 && 'a' <= s[i-1]|0x20 && s[i-1]|0x20 <= 'z' {
		i--
	}
	return i > 1 && s[i-1] == '#' && s[i-2] == '#'
}

// isHidden reports whether a character is invisible, or changes how others are shown. Variation selectors for text and emoji are allowed after a
// character that is not ASCII. Between ASCII characters they would hide a command from OpensCommand.
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

// escape writes a character as in Go source.
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

// reveal is Line with a middle dot for each space, all other white space and every selector escaped, and backslashes doubled, so that different texts look
// different, except for letters of different scripts.
func reveal(s string) string {
	return rewrite(s, `\[`, func(_, r rune) string {
		switch {
		case r == ' ':
			return "·"
		case r == '\\':
			return `\\`
		case r == '·', unicode.IsSpace(r), isHidden(0, r):
			return escape(r)
		}
		return ""
	})
}

// Lines is [Line] for each line of a text.
func Lines(text string) string {
	lines := strings.Split(secret.Mask(text), "\n")
	for i, line := range lines {
		lines[i] = Line(line)
	}
	return strings.Join(lines, "\n")
}

// Clip is [Line] for at most the first limit characters of a text; it says how many follow.
func Clip(s string, limit int) string {
	start, rest := Cut(s, limit)
	return Line(start) + More(rest)
}

// Cut masks credentials in a text, and splits it after limit characters.
func Cut(s string, limit int) (start, rest string) {
	s = secret.Mask(s)
	end := forward(s, 0, limit)
	return s[:end], s[end:]
}

// CutBytes returns the beginning of a text, in whole characters and at most limit
// bytes.
func CutBytes(s string, limit int) string {
	for limit > 0 && !startsAt(s, limit) {
		limit--
	}
	return s[:limit]
}

// More says how long the omitted text is; empty if there is none.
func More(rest string) string {
	if rest == "" {
		return ""
	}
	return "… " + wording.Count(utf8.RuneCountInString(rest), "more character")
}

// forward returns the offset n characters after offset i, at most the length.
func forward(s string, i, n int) int {
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// back returns the offset n characters before offset i, at least 0.
func back(s string, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}

// startsAt reports whether a character or the end of the text is at offset i.
func startsAt(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) }
