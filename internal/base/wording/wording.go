// Package wording has the parts from which messages are assembled.
package wording

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/base/secret"
)

// Project is the project's address, Docs that of its pages there, and Site that of the web site, which scripts/site makes from them.
// Readers of a message are in another repository, where docs/ is something else.
const (
	Project = "https://github.com/small-gate/small-gate"
	Docs    = Project + "/blob/main/docs/"
	Site    = "https://small-gate.github.io/small-gate/"
)

// FinishMerge is the command that commits a merge, without an editor.
const FinishMerge = "git commit --no-edit"

// AbortMerge is the command that gives up a merge.
const AbortMerge = "git merge --abort"

// ShellWord writes text as one word of a POSIX shell, in quotes only if it needs them.
func ShellWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@+%=,"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return ShellQuote(text)
}

// ShellQuote writes text as one word of a POSIX shell, in quotes. It contains no backtick, which would end a remedy's command early, and no
// character but a line feed that Printable escapes: a shell would not read the escapes back.
func ShellQuote(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == '\'':
			out.WriteString(`'\''`)
		case c == '`', c == utf8.RuneError && n == 1, c != '\n' && !strconv.IsPrint(c):
			out.WriteString(`'"$(printf '`)
			for _, b := range []byte(text[i : i+n]) {
				fmt.Fprintf(&out, `\%03o`, b)
			}
			out.WriteString(`')"'`)
		default:
			out.WriteString(text[i : i+n])
		}
		i += n
	}
	return "'" + out.String() + "'"
}

// quotedPart is what ShellQuote writes in place of a quote, or of bytes that it encodes.
var quotedPart = regexp.MustCompile(`'\\''|'"\$\(printf '(?:\\[0-7]{3})+'\)"'`)

// UnquoteShell returns the text of a word that ShellQuote wrote.
func UnquoteShell(word string) string {
	word = strings.TrimSuffix(strings.TrimPrefix(word, "'"), "'")
	return quotedPart.ReplaceAllStringFunc(word, func(part string) string {
		if part == `'\''` {
			return "'"
		}
		var out []byte
		for _, octal := range strings.Split(part, `\`)[1:] {
			b, err := strconv.ParseUint(octal[:3], 8, 8)
			if err != nil { // quotedPart has three digits, of which the first may be too large for a byte
				return part
			}
			out = append(out, byte(b))
		}
		return string(out)
	})
}

// topLiteral begins a pathspec in which no character is a wildcard (gitglossary(7), pathspec). magic are the characters that git would take after :/ for
// more signatures, or refuse as such.
const topLiteral, magic = ":(top,literal)", "!\"#%&',-/:;<=>@^_`~"

// TopPath returns a path from the root of a repository as git takes it in any of its directories, as one word of a shell. It names that one file, even
// if the name has characters that are wildcards or signatures to git.
func TopPath(path string) string {
	if strings.ContainsAny(path, `*?[\`) || strings.TrimLeft(path, magic) != path {
		return ShellWord(topLiteral + path)
	}
	return ShellWord(":/" + path)
}

// CutTop returns the path from the root of a repository in an argument that TopPath wrote; fromTop is false for any other argument.
func CutTop(name string) (path string, fromTop bool) {
	if path, fromTop = strings.CutPrefix(name, topLiteral); fromTop {
		return path, true
	}
	return strings.CutPrefix(name, ":/")
}

// Commands writes commands for a remedy, each in backticks. Whoever types what stands in a remedy's backticks, in that order, has
// done what it says.
func Commands(commands ...string) string { return "`" + strings.Join(commands, "`, `") + "`" }

// RunIn makes the commands of a remedy run in a directory, wherever they are typed.
func RunIn(dir, remedy string) string {
	parts := SplitCommands(remedy)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "(cd " + ShellWord(dir) + " && " + parts[i] + ")"
	}
	return JoinCommands(parts)
}

// SplitCommands splits a remedy into words and commands by turns. It begins with words, which may be empty.
func SplitCommands(remedy string) []string { return strings.Split(remedy, "`") }

// JoinCommands is the reverse of SplitCommands.
func JoinCommands(parts []string) string { return strings.Join(parts, "`") }

// Clip masks credentials in a text that is quoted in a message, and shortens it.
func Clip(text string) string {
	text = secret.Mask(text)
	const most = 80 // characters
	characters := 0
	for at := range text {
		if characters == most {
			return text[:at] + "…"
		}
		characters++
	}
	return text
}

// Count returns a number and a noun: "1 entry", "3 entries".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %s", n, Plural(noun))
}

// List lists parts as a sentence does, with a word before the last one: "and", "or".
func List(parts []string, word string) string {
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " " + word + " " + parts[last]
}

// Listed joins n texts with semicolons; of more than five, the first five, and it says how many more there are.
func Listed(n int, text func(i int) string) string {
	const most = 5
	var parts []string
	for i := range min(n, most) {
		parts = append(parts, text(i))
	}
	if n > most {
		parts = append(parts, fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(parts, "; ")
}

// FirstFew returns at most so many of some parts, and then, if there are others, how many: "3 more".
func FirstFew(most int, parts []string) []string {
	if len(parts) <= most {
		return parts
	}
	return append(slices.Clone(parts[:most]), fmt.Sprintf("%d more", len(parts)-most))
}

// Plural returns the plural of a regular noun of this program: "entry", "branch", "commit".
func Plural(noun string) string {
	switch {
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay"):
		return strings.TrimSuffix(noun, "y") + "ies"
	case strings.HasSuffix(noun, "ch"):
		return noun + "es"
	}
	return noun + "s"
}

// Span returns a duration in words, in the largest unit of which it has about two: "2 days", "30 hours", "89 seconds".
func Span(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		noun string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d.Round(unit.of) / unit.of); n > 1 {
			return Count(n, unit.noun)
		}
	}
	return Count(int(d.Round(time.Second)/time.Second), "second")
}

// Quote shows text of a file in a message.
func Quote(text string) string { return strings.ReplaceAll(strconv.Quote(Clip(text)), "`", `\x60`) }

// Printable returns text for a message: control characters, characters that change
// the direction of text, and bytes that are not UTF-8 are written as escapes. Credentials are masked.
func Printable(s string) string {
	s = secret.Mask(s)
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
