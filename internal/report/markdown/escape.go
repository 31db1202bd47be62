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
// or a reference; a backslash would not. It is not enough at the beginning of a line: put something before it.
func escape(s string) string {
	s = sanitize.Line(s)
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i, r := range s {
		next := s[i+utf8.RuneLen(r):]
		apart := next == "" || next[0] == ' '
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
			if !apart || r == '#' { // at its end, a # could close a heading
				b.WriteString("<!-- -->")
			}
		case ':':
			if !apart && (next[0] < '0' || next[0] > '9') { // times are fine
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

// hyphen writes the one between two texts, and breaks up what could be the number
// of an issue: a digit behind it, and before it a key of capitals, or GitHub's GH
// in any case.
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

// escapeLine is [escape] for a text that begins a line: what would make a heading, a
// list or a line of it is text too.
func escapeLine(s string) string {
	s = escape(strings.TrimSpace(s))
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if rest := s[digits:]; rest != "" && (digits == 0 && strings.ContainsRune("#+-=", rune(rest[0])) || digits > 0 && strings.ContainsRune(".)", rune(rest[0]))) {
		return s[:digits] + "\\" + rest
	}
	return s
}

// escapeStart is escape for the first characters of a text, at most limit.
func escapeStart(s string, limit int) string {
	start, rest := sanitize.Cut(s, limit)
	return escape(start) + sanitize.More(rest)
}

func escapeText(s string) string { return escapeStart(s, content.MaxText) }

func escapePath(s string) string { return escapeStart(s, content.MaxPath) }

// codeSpan writes one line of text as code. Not for tables.
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

// fenced writes text as a block of code in a language, in a fence that is longer than any run of backticks inside.
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
