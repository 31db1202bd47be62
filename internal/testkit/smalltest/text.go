package smalltest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

var (
	plainText  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_/.-]*( [A-Za-z0-9_/.-]+)*$`)
	taggedText = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.:_+]*[A-Za-z0-9]$`)
)

// raw reports whether a character may be in YAML unescaped, without being or becoming a line break.
func raw(r rune) bool {
	return r == '\t' || r >= 0x20 && (r < 0x7f || r >= 0xa0) && r != 0x2028 && r != 0x2029 && r != 0xfeff && r != 0xfffe && r != 0xffff
}

func allRaw(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !raw(r) }) < 0
}

func isPlain(text string) bool {
	return plainText.MatchString(text) && (&yaml.Node{Kind: yaml.ScalarNode, Value: text}).ShortTag() == "!!str"
}

// key writes a mapping's key on one line.
func (s *Styler) key(text string) string {
	switch {
	case isPlain(text) && s.chance(60):
		return text
	case allRaw(text) && s.chance(40):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return s.doubleQuoted(text, -1)
}

// text writes a string in a flow style.
func (s *Styler) text(text string, indent int) string {
	switch {
	case isPlain(text) && s.chance(40):
		return text
	case taggedText.MatchString(text) && !s.plainOnly && s.chance(40):
		return s.pickTag() + text
	case !s.plainOnly && s.chance(5):
		return `!note ` + s.doubleQuoted(text, indent)
	case s.chance(40):
		if quoted, ok := s.singleQuoted(text, indent); ok {
			return quoted
		}
	}
	return s.doubleQuoted(text, indent)
}

func (s *Styler) pickTag() string {
	return []string{"!!str ", "!note ", "!<tag:yaml.org,2002:str> "}[s.R.IntN(3)]
}

// singleQuoted writes a string in single quotes; a line feed as an empty line.
func (s *Styler) singleQuoted(text string, indent int) (string, bool) {
	folds := strings.ReplaceAll(text, "\n", "n")
	if !allRaw(folds) || strings.Contains(text, "\n") && !foldable(text) {
		return "", false
	}
	text = strings.ReplaceAll(text, "'", "''")
	return "'" + foldLines(text, strings.Repeat(" ", indent+1)) + "'", true
}

// foldable reports whether the line feeds of a text may be written as empty lines: no white space beside them, and none at either end.
func foldable(text string) bool {
	if strings.HasPrefix(text, "\n") || strings.HasSuffix(text, "\n") {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != strings.Trim(line, " \t") {
			return false
		}
	}
	return true
}

var lineFeeds = regexp.MustCompile(`\n+`)

// foldLines writes each run of n line feeds as n+1 line ends.
func foldLines(text, pad string) string {
	return lineFeeds.ReplaceAllStringFunc(text, func(run string) string { return run + "\n" + pad })
}

var shortEscapes = map[rune]string{
	0: `\0`, 7: `\a`, 8: `\b`, '\t': `\t`, '\n': `\n`, 11: `\v`, 12: `\f`, '\r': `\r`, 27: `\e`, '"': `\"`, '\\': `\\`,
	0x85: `\N`, 0xa0: `\_`, 0x2028: `\L`, 0x2029: `\P`, ' ': `\ `,
}

// doubleQuoted writes any string; with an indent of at least 0 sometimes on several lines.
func (s *Styler) doubleQuoted(text string, indent int) string {
	var out strings.Builder
	begins := false // a line of the quoted text begins: blanks there are dropped
	for _, r := range text {
		short, has := shortEscapes[r]
		switch must := !raw(r) || r == '"' || r == '\\' || begins && (r == ' ' || r == '\t'); {
		case has && (must || s.chance(10)):
			out.WriteString(short)
		case !must && s.chance(95):
			out.WriteRune(r)
		case r < 0x100 && s.chance(50):
			fmt.Fprintf(&out, `\x%02X`, r)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			fmt.Fprintf(&out, `\U%08x`, r)
		}
		if begins = indent >= 0 && s.chance(3); begins {
			out.WriteString("\\\n" + strings.Repeat(" ", indent+1))
		}
	}
	return `"` + out.String() + `"`
}

// blockScalar writes a string as a literal or folded block scalar if that is exact.
func (s *Styler) blockScalar(text string, indent int) bool {
	body := strings.TrimRight(text, "\n")
	if body == "" || !allRaw(strings.ReplaceAll(text, "\n", "n")) || !utf8.ValidString(text) || s.chance(50) {
		return false
	}
	step := 1 + s.R.IntN(4)
	pad := strings.Repeat(" ", indent+step)
	header := "|"
	if foldable(body) && s.chance(50) {
		header = ">"
	}
	indicator := ""
	if strings.IndexAny(body, " \t\n") == 0 || s.chance(20) {
		indicator = fmt.Sprint(step)
	}
	end := len(text) - len(body)
	chomp := []string{"-", "", "+"}[min(end, 2)]
	if end > 0 && s.chance(20) {
		chomp = "+"
	}
	if s.chance(50) {
		header += indicator + chomp
	} else {
		header += chomp + indicator
	}
	s.b.WriteString(" " + header)
	s.endLine()
	var lines string
	if header[0] == '>' {
		lines = pad + foldLines(body, pad)
	} else {
		lines = indentLines(body, pad)
	}
	s.b.WriteString(lines + "\n" + strings.Repeat("\n", max(end-1, 0)))
	s.keep = true
	return true
}

func indentLines(text, pad string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = pad + line
		}
	}
	return strings.Join(lines, "\n")
}
