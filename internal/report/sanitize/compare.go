package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/base/secret"
)

// MaxLines is the largest number of lines that are shown of each side of a difference.
const MaxLines = 4

const (
	// context is the number of equal characters that are shown around a difference.
	context = 24
	// maxNamed is the largest number of characters of which a difference names the code points.
	maxNamed = 4
)

// Difference shows how one text became another, in a few short lines.
type Difference struct {
	Removed, Added []string
	// Note says what the lines do not show, such as that only white space differs; it is often empty.
	Note string
}

// Compare compares two texts. Of long ones it shows the part that differs, with a little context, in about width columns. Credentials are masked before,
// because a single line of a key would not be recognised.
func Compare(from, to string, width int) Difference {
	from, to = secret.MaskChange("", from, to)
	switch {
	case from == to:
		return Difference{
			Removed: Excerpt(from, width, MaxLines), Added: Excerpt(to, width, MaxLines),
			Note: "the text is the same, the type of the value is not",
		}
	case from == "":
		return Difference{Added: Excerpt(to, width, MaxLines), Note: "was empty"}
	case to == "":
		return Difference{Removed: Excerpt(from, width, MaxLines), Note: "is empty now"}
	case sameBut(unicode.IsSpace, from, to):
		return revealed(from, to, width, "only white space differs")
	case sameBut(invisible, from, to):
		return revealed(from, to, width, "only invisible characters differ")
	}
	var d Difference
	if strings.Contains(from, "\n") || strings.Contains(to, "\n") {
		d.Removed, d.Added = differingLines(from, to, width)
	} else {
		d.Removed, d.Added = window(from, to, width, Line)
		d.Note = codePoints(from, to)
	}
	if strings.Join(d.Removed, "\n") == strings.Join(d.Added, "\n") {
		return revealed(from, to, width, "they look alike: every escape is spelt out")
	}
	return d
}

// revealed shows a difference with visible signs for all invisible characters.
func revealed(from, to string, width int, note string) Difference {
	removed, added := window(from, to, width, reveal)
	return Difference{Removed: removed, Added: added, Note: note + `; · is a space, \t a tab, \n a line break`}
}

// window shows the part of two texts that differs, with some context, each in one line. Short texts are shown in full.
func window(from, to string, width int, show func(string) string) (removed, added []string) {
	prefix, suffix := common(from, to)
	start := back(from, prefix, context)
	if fits(from, width) && fits(to, width) {
		start, suffix = 0, 0
	}
	return []string{cut(from, start, len(from)-suffix, width, show)},
		[]string{cut(to, start, len(to)-suffix, width, show)}
}

func fits(s string, width int) bool { return forward(s, 0, width) == len(s) }

// cut shows at most width characters of s from the offset start. After the offset end, where the difference ends, it shows only a little.
func cut(s string, start, end, width int, show func(string) string) string {
	if s == "" {
		return "(empty)"
	}
	lead := ""
	if start > 0 {
		lead = "…"
	}
	stop := forward(s, start, width)
	if stop < end {
		return lead + show(s[start:stop]) + More(s[stop:])
	}
	if stop = min(stop, forward(s, end, context)); stop < len(s) {
		return lead + show(s[start:stop]) + "…"
	}
	return lead + show(s[start:])
}

// differingLines shows the lines that differ in two texts, without the common lines before and after.
func differingLines(from, to string, width int) (removed, added []string) {
	a, b := strings.Split(from, "\n"), strings.Split(to, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 1 && len(b) == 1 {
		return window(a[0], b[0], width, Line)
	}
	return firstLines(a, width, MaxLines), firstLines(b, width, MaxLines)
}

// Excerpt shows at most the first most lines of a text, each in about width columns.
func Excerpt(s string, width, most int) []string {
	s = secret.Mask(s)
	if s != "" && strings.TrimFunc(s, invisible) == "" {
		return []string{cut(s, 0, len(s), width, reveal)}
	}
	return firstLines(strings.Split(s, "\n"), width, most)
}

// firstLines shows the first few lines, and says how much follows.
func firstLines(lines []string, width, most int) []string {
	var out []string
	for i, line := range lines {
		if i == most {
			if more := More(strings.Join(lines[i:], "\n")); more != "" {
				return append(out, more)
			}
		}
		if line == "" {
			line = "(empty)"
		}
		out = append(out, Clip(line, width))
	}
	return out
}

// common returns the lengths, in bytes, of the common beginning and the common end of two texts. These do not overlap, and split no character.
func common(a, b string) (prefix, suffix int) {
	shorter := min(len(a), len(b))
	for prefix < shorter && a[prefix] == b[prefix] {
		prefix++
	}
	for prefix > 0 && (!startsAt(a, prefix) || !startsAt(b, prefix)) {
		prefix--
	}
	for suffix < shorter-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	for suffix > 0 && !utf8.RuneStart(a[len(a)-suffix]) {
		suffix--
	}
	return prefix, suffix
}

// codePoints names the code points of a very short difference that is not plain ASCII, because letters of two scripts, or two encodings of an accent, can
// look alike.
func codePoints(from, to string) string {
	prefix, suffix := common(from, to)
	from, to = from[prefix:len(from)-suffix], to[prefix:len(to)-suffix]
	both := from + to
	if utf8.RuneCountInString(both) > maxNamed || !strings.ContainsFunc(both, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return ""
	}
	switch {
	case from == "":
		return "added: " + name(to)
	case to == "":
		return "removed: " + name(from)
	}
	return name(from) + " became " + name(to)
}

func name(s string) string {
	var names []string
	for _, r := range s {
		names = append(names, fmt.Sprintf("U+%04X", r))
	}
	return strings.Join(names, " ")
}

// invisible reports whether a character takes up no visible space.
func invisible(r rune) bool {
	return unicode.IsSpace(r) || isHidden(0, r)
}

// sameBut reports whether two texts are equal apart from the characters for which drop is true.
func sameBut(drop func(rune) bool, a, b string) bool {
	without := func(s string) string { return strings.Join(strings.FieldsFunc(s, drop), "") }
	return without(a) == without(b)
}
