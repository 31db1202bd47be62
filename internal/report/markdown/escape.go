package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// escape makes one line of text literal in GitHub's and GitLab's Markdown: it cannot become emphasis, a link, an image, a table cell, HTML
// or a formula, and no address becomes a link. An empty comment keeps a name or number after @, #, GH- and the like from becoming a mention
// or a reference; a backslash would not. At the beginning of a line use escapeLine.
func escape(s string) string {
	s = sanitize.Line(s)
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i, r := range s {
		next := s[i+utf8.RuneLen(r):]
		endsWord := next == "" || next[0] == ' '
		switch r {
		case '<':
			b.WriteString("&lt;") // some renderers ignore backslashes
		case '\\', '`', '*', '_', '[', ']', '>':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '|':
			b.WriteString("&#124;") // in a table a backslash before it would be counted
		case '&', '~', '$', '@', '#', '!', '%', '^':
			if strings.ContainsRune("&~$", r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
			if !endsWord || r == '#' { // a # at the end could close a heading
				b.WriteString("<!-- -->")
			}
		case ':':
			if !endsWord && (next[0] < '0' || next[0] > '9') { // a time such as 09:20 needs no escape
				b.WriteByte('\\')
			}
			b.WriteByte(':')
		case '-':
			b.WriteString(hyphen(s[:i], next))
		case '.':
			if i >= 3 && strings.EqualFold(s[i-3:i], "www") {
				b.WriteByte('\\')
			}
			b.WriteByte('.')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hyphen returns the hyphen between two texts. It adds an empty comment if the three
// could be the number of an issue: capitals, or GitHub's GH in any case, before the
// hyphen, and a digit after it.
func hyphen(before, after string) string {
	if before == "" || after == "" || after[0] < '0' || after[0] > '9' {
		return "-"
	}
	last := before[len(before)-1]
	if 'A' <= last && last <= 'Z' || strings.EqualFold(before[max(0, len(before)-2):], "gh") {
		return "-<!-- -->"
	}
	return "-"
}

// escapeLine is [escape] for a text that begins a line: it cannot become a heading, a
// list or a ruler either.
func escapeLine(s string) string {
	s = escape(strings.TrimSpace(s))
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if rest := s[digits:]; rest != "" && (digits == 0 && strings.ContainsRune("#+-=", rune(rest[0])) || digits > 0 && strings.ContainsRune(".)", rune(rest[0]))) {
		return s[:digits] + "\\" + rest
	}
	return s
}

// escapeStart is escape for the first limit characters of a text; it says how many follow.
func escapeStart(s string, limit int) string {
	start, rest := sanitize.Cut(s, limit)
	return escape(start) + sanitize.More(rest)
}

func escapeText(s string) string { return escapeStart(s, content.MaxText) }

func escapePath(s string) string { return escapeStart(s, content.MaxPath) }

// codeSpan writes one line of text as code. It does not escape for tables.
func codeSpan(s string) string {
	s = sanitize.Line(s)
	if strings.TrimFunc(s, unicode.IsSpace) == "" {
		s = "(empty)"
	}
	fence := fenceOf(s, "`")
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' {
		s = " " + s + " "
	}
	return fence + s + fence
}

// fenced writes text as a block of code in a language. The fence is longer than any row of backticks in the text.
func fenced(language, text string) string {
	var b strings.Builder
	fence := fenceOf(text, "```")
	b.WriteString(fence + language + "\n")
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		b.WriteString(sanitize.Line(strings.TrimSuffix(line, "\n")) + "\n")
	}
	b.WriteString(fence + "\n")
	return b.String()
}

// fenceOf makes a fence longer until the text does not contain it.
func fenceOf(text, fence string) string {
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
