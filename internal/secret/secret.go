// Package secret knows what credentials of known vendors look like, finds them in text and masks them. It looks for literals first
// and runs an expression only where one stands, so that a text without any costs about a microsecond. Expressions are RE2's: their
// time is linear in the text, whatever the text is.
package secret

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Match is one credential in a text.
type Match struct {
	// Start and End are its offsets in bytes.
	Start, End int
	// Shape is what it looks like, and rank its place among the shapes.
	Shape *Shape
	rank  int
}

// shortest is the length in bytes of the shortest text that holds a credential: a URL with a password.
const shortest = 16

// Find gives the credentials in a text, in order. No two overlap.
func Find(text string) []Match {
	if len(text) < shortest || !Suspected(text) {
		return nil
	}
	var found []Match
	seen := make([]int, len(Shapes)) // up to where each shape was looked for
	literalsIn(text, func(at, shape int) {
		if at < seen[shape] {
			return
		}
		s := &Shapes[shape]
		start, end := 0, len(text)
		if !s.lines {
			start, end = lineAt(text, at)
		}
		seen[shape] = end
		if !strings.Contains(text[start:end], s.also) {
			return
		}
		for _, i := range s.expression().FindAllStringSubmatchIndex(text[start:end], -1) {
			m := Match{Start: start + i[2], End: start + i[3], Shape: s, rank: shape}
			if s.check(text[start+i[0]:start+i[1]], text[m.Start:m.End]) {
				found = append(found, m)
			}
		}
	})
	return merge(found)
}

// literal is one of a shape's literals.
type literal struct {
	text  string
	shape int
}

// index is the literals of all shapes by their first byte, and which two bytes one can begin with, as bits.
type index struct {
	by     [256][]literal
	begins [256][4]uint64
}

var literals = sync.OnceValue(func() *index {
	var in index
	for i := range Shapes {
		for _, text := range Shapes[i].Literals {
			in.by[text[0]] = append(in.by[text[0]], literal{text, i})
			begins := &in.begins[text[0]]
			begins[text[1]/64] |= 1 << (text[1] % 64)
		}
	}
	return &in
})

// Suspected reports whether a text has a literal of a credential, or whether, as the name of a field, it says that the value is one. A text
// that has none, in a field that is not suspected, holds no credential.
func Suspected(text string) bool {
	in := literals()
	for i := range max(len(text)-1, 0) {
		if next := text[i+1]; in.begins[text[i]][next/64]>>(next%64)&1 != 0 && in.at(text, i) {
			return true
		}
	}
	return false
}

// at reports whether a literal begins at an offset.
func (in *index) at(text string, i int) bool {
	return slices.ContainsFunc(in.by[text[i]], func(l literal) bool { return strings.HasPrefix(text[i:], l.text) })
}

// literalsIn visits the places of literals in a text, in order.
func literalsIn(text string, visit func(at, shape int)) {
	in := literals()
	for i := range max(len(text)-1, 0) {
		if next := text[i+1]; in.begins[text[i]][next/64]>>(next%64)&1 == 0 {
			continue
		}
		for _, l := range in.by[text[i]] {
			if strings.HasPrefix(text[i:], l.text) {
				visit(i, l.shape)
			}
		}
	}
}

// lineAt is where the line around an offset begins and ends.
func lineAt(text string, at int) (start, end int) {
	start, end = strings.LastIndexByte(text[:at], '\n')+1, strings.IndexByte(text[at:], '\n')
	if end < 0 {
		return start, len(text)
	}
	return start, at + end
}

// merge sorts matches and joins those that overlap: a token may be the password of a URL, and keeps its name.
func merge(found []Match) []Match {
	slices.SortStableFunc(found, func(a, b Match) int { return cmp.Or(a.Start-b.Start, a.rank-b.rank) })
	out := found[:0]
	for _, m := range found {
		if n := len(out); n > 0 && m.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, m.End)
			continue
		}
		out = append(out, m)
	}
	return out
}

// Mask replaces every credential in a text by its vendor and the literal that it begins with: nothing else of it is told, and no digest.
// Text is masked before it is cut: the beginning of a credential is none. A text without any is returned as it is, and so is a masked
// one.
func Mask(text string) string {
	masked, _ := mask(text, Find)
	return masked
}

// mask also says which kind of credential it has masked first; empty if none.
func mask(text string, find func(string) []Match) (masked, kind string) {
	for found := find(text); len(found) > 0; found = find(text) {
		kind = cmp.Or(kind, found[0].Shape.Name)
		var b strings.Builder
		end := 0
		for _, m := range found {
			b.WriteString(text[end:m.Start])
			b.WriteString(m.Shape.masked(text[m.Start:m.End]))
			end = m.End
		}
		b.WriteString(text[end:])
		text = b.String()
	}
	return text, kind
}

// FindValue is Find for the value of a field, whose name may be what says that it is a credential.
func FindValue(field, value string) []Match {
	if !Suspected(field) {
		return Find(value)
	}
	name := field + "="
	found := Find(name + value)
	for i := range found {
		found[i].Start, found[i].End = max(found[i].Start-len(name), 0), found[i].End-len(name)
	}
	return slices.DeleteFunc(found, func(m Match) bool { return m.End <= 0 })
}

// MaskValue is Mask for the value of a field.
func MaskValue(field, value string) string {
	masked, _ := MaskKind(field, value)
	return masked
}

// MaskKind is MaskValue, and the kind of the first credential in the value; empty if it has none.
func MaskKind(field, value string) (masked, kind string) {
	return mask(value, func(text string) []Match { return FindValue(field, text) })
}

// MaskChange masks both versions of a field, as Conceal does.
func MaskChange(field, from, to string) (maskedFrom, maskedTo string) {
	maskedFrom, inFrom := MaskKind(field, from)
	maskedTo, inTo := MaskKind(field, to)
	if from == to {
		return maskedFrom, maskedTo
	}
	return Conceal(maskedFrom, maskedTo, cmp.Or(inFrom, inTo))
}

// Conceal gives what is shown of two masked versions of a field, one of which held a credential of some kind; empty if none did. The other
// version may hold a damaged form of it, which nothing finds: no text of either is shown.
func Conceal(from, to, kind string) (shownFrom, shownTo string) {
	if kind == "" || from == "" || to == "" {
		return from, to
	}
	from = "…(masked: one version holds a credential, " + kind + ")"
	return from, from + " (another value)"
}

// masked is what stands for a credential.
func (s *Shape) masked(value string) string {
	return s.Prefix(value) + "…(masked " + s.Name + ")"
}

// Prefix is the literal that a credential begins with; empty if its shape has none.
func (s *Shape) Prefix(value string) string {
	prefix := ""
	for _, l := range s.Literals {
		if strings.HasPrefix(value, l) && len(l) > len(prefix) {
			prefix = l
		}
	}
	return prefix
}
