package small

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// unicodeBreaks end a line in YAML 1.1, which the parser follows. In YAML 1.2 (sections 5.4 and 5.2 of its
// specification), in git and in editors they do not.
var unicodeBreaks = []string{"\u0085", "\u2028", "\u2029"}

func hasUnicodeBreak(data []byte) bool {
	for _, c := range unicodeBreaks {
		if bytes.Contains(data, []byte(c)) {
			return true
		}
	}
	return false
}

// checkUnicodeBreaks returns a problem if the document's content depends on whether unicodeBreaks end a line. After
// one in a comment, for example, some readers find an entry, and others only more of the comment. Inside quotes they
// usually make no difference.
func (d *Document) checkUnicodeBreaks(data []byte) *Problem {
	if !hasUnicodeBreak(data) {
		return nil
	}
	without, back := replaceUnicodeBreaks(data)
	root, _, problem := decode(without, d.Structure, d.Root.Kind)
	if problem == nil {
		if other, problems := build(root, len(without), d.Root.Kind); len(problems) == 0 {
			said := back.Replace(string(appendCanonical(nil, other.Root)))
			if said == string(appendCanonical(nil, d.Root)) {
				return nil
			}
		}
	}
	line, column, found := 1, 1, rune(0)
	for _, r := range string(data) {
		if strings.ContainsRune(strings.Join(unicodeBreaks, ""), r) {
			found = r
			break
		}
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
	return &Problem{
		Kind: ProblemYAML, Pos: Pos{line, column},
		Message: fmt.Sprintf("YAML readers disagree on whether the character %U here ends a line, and so on what the file says", found),
		Hint:    fmt.Sprintf(`remove it; inside double quotes it can be written as \u%04X`, found),
	}
}

// replaceUnicodeBreaks replaces each Unicode line break by an ordinary character that the text does not have and that
// takes as many bytes; back undoes that.
func replaceUnicodeBreaks(data []byte) (text []byte, back *strings.Replacer) {
	text = data
	var pairs []string
	next := map[int]rune{2: '\u0250', 3: '\ue000'} // by length in bytes: letters, characters for private use
	for _, c := range unicodeBreaks {
		standIn := next[len(c)]
		for bytes.ContainsRune(data, standIn) {
			standIn++
		}
		next[len(c)] = standIn + 1
		text = bytes.ReplaceAll(text, []byte(c), utf8.AppendRune(nil, standIn))
		pairs = append(pairs, string(standIn), c)
	}
	return text, strings.NewReplacer(pairs...)
}
