// Package wording writes the parts that messages are put together from.
package wording

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ShellWord writes text as one word of a POSIX shell, in quotes only if it needs them.
func ShellWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@+%=,"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return ShellQuote(text)
}

// ShellQuote writes text as one word of a POSIX shell, in quotes.
func ShellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Clip shortens a text that is quoted in a message.
func Clip(text string) string {
	const most = 80 // characters
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}

// Count is a number and a noun: "1 entry", "3 entries".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %s", n, Plural(noun))
}

// Plural is the plural of a regular noun.
func Plural(noun string) string {
	switch {
	case strings.HasSuffix(noun, "y"):
		return strings.TrimSuffix(noun, "y") + "ies"
	case strings.HasSuffix(noun, "ch"):
		return noun + "es"
	}
	return noun + "s"
}

// Quote shows text of a file in a message.
func Quote(text string) string { return strconv.Quote(Clip(text)) }

// Printable is text for a message: control characters, characters that change
// the direction of text, and bytes that are not UTF-8 are written as escapes.
func Printable(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case strconv.IsPrint(c):
			b.WriteRune(c)
		default:
			quoted := strconv.QuoteRuneToASCII(c)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += n
	}
	return b.String()
}
