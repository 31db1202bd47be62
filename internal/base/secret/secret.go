// Package secret finds credentials of known kinds in text, and masks them. It first searches for literals, and runs an expression only where it has
// found one, so that a usual entry without any takes about a microsecond. The time of an expression is linear in the text (RE2).
package secret

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync"
)

// Match is one credential in a text.
type Match struct {
	// Start and End are its offsets in bytes.
	Start, End int
	// Shape is its form, and rank the form's index in Shapes.
	Shape *Shape
	rank  int
}

// Find returns the credentials in a text, in order. No two overlap.
func Find(text string) []Match {
	if !Suspected(text) {
		return nil
	}
	var found []Match
	seen := make([]int, len(Shapes)) // the offset up to which each shape was searched for
	for at, shape := range literalsIn(text) {
		if at < seen[shape] {
			continue
		}
		s := &Shapes[shape]
		start, end := 0, len(text)
		if !s.lines {
			start, end = lineAt(text, at)
		}
		seen[shape] = end
		if !strings.Contains(text[start:end], s.also) {
			continue
		}
		s.each(text[start:end], func(from, to int) {
			found = append(found, Match{Start: start + from, End: start + to, Shape: s, rank: shape})
		})
	}
	return merge(found)
}

// mostRead bounds how much is read for one shape if matches are nested: at most this many times the text's length.
const mostRead = 8

// each finds the credentials of one shape in a text. It also searches inside matches, because a false match must not hide a credential that begins
// in it; but only up to a limit, so that the time stays linear.
func (s *Shape) each(text string, add func(start, end int)) {
	from, read := 0, 0
	for {
		i := s.expression().FindStringSubmatchIndex(text[from:])
		if i == nil {
			return
		}
		at, start, end, after := from+i[0], from+i[2], from+i[3], from+i[1]
		if (!s.alone || standsAlone(text, at)) && s.check(text[at:after], text[start:end]) {
			add(start, end)
		}
		if read += after - at; read > mostRead*len(text) {
			from = end
			continue
		}
		from = start + max(len(s.Prefix(text[start:end])), 1)
	}
}

// literal is one of a shape's literals.
type literal struct {
	text  string
	shape int
}

// index has the literals of all shapes by their first byte, and a bit for each pair of first bytes that a literal has.
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

// Suspected reports whether a text, or the name of a field, contains a literal of a credential. If neither a text nor its field's name does, the text
// contains no credential.
func Suspected(text string) bool {
	for range literalsIn(text) {
		return true
	}
	return false
}

// literalsIn yields the positions of literals in a text, in order, and the index of each one's shape.
func literalsIn(text string) iter.Seq2[int, int] {
	return func(yield func(at, shape int) bool) {
		in := literals()
		for i := range max(len(text)-1, 0) {
			if next := text[i+1]; in.begins[text[i]][next/64]>>(next%64)&1 == 0 {
				continue
			}
			for _, l := range in.by[text[i]] {
				if strings.HasPrefix(text[i:], l.text) && !yield(i, l.shape) {
					return
				}
			}
		}
	}
}

// lineAt returns the beginning and the end of the line around an offset.
func lineAt(text string, at int) (start, end int) {
	start, end = strings.LastIndexByte(text[:at], '\n')+1, strings.IndexByte(text[at:], '\n')
	if end < 0 {
		return start, len(text)
	}
	return start, at + end
}

// merge sorts matches and joins overlapping ones: a token that is the password of a URL keeps its name.
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

// Mask replaces every credential in a text by its literal prefix and the name of its kind; it shows nothing else of it, not even a digest. Mask a text
// before you cut it: a part of a credential is not recognised. A text without credentials, or an already masked one, is returned unchanged.
func Mask(text string) string {
	masked, _ := MaskKind("", text)
	return masked
}

// FindValue is Find for the value of a field, whose name may mark it as a credential.
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

// mostRounds is how often a text is masked at most: a mask may make the text around it look like another credential. After so many rounds, all of the
// rest is masked.
const mostRounds = 8

// MaskKind is Mask for the value of a field. It also returns the kind of the first credential in the value; empty if there is none.
func MaskKind(field, value string) (masked, kind string) {
	rounds := 0
	for found := FindValue(field, value); len(found) > 0; found = FindValue(field, value) {
		kind = cmp.Or(kind, found[0].Shape.Name)
		if rounds++; rounds > mostRounds {
			found = found[:1]
			found[0].End = len(value)
		}
		var b strings.Builder
		end := 0
		for _, m := range found {
			b.WriteString(value[end:m.Start])
			b.WriteString(m.Shape.Prefix(value[m.Start:m.End]) + "…(masked " + m.Shape.Name + ")")
			end = m.End
		}
		b.WriteString(value[end:])
		value = b.String()
	}
	return value, kind
}

// MaskChange masks both versions of a field and, if they differ, conceals them: see Conceal.
func MaskChange(field, from, to string) (maskedFrom, maskedTo string) {
	maskedFrom, inFrom := MaskKind(field, from)
	maskedTo, inTo := MaskKind(field, to)
	if from == to {
		return maskedFrom, maskedTo
	}
	return Conceal(maskedFrom, maskedTo, cmp.Or(inFrom, inTo))
}

// Conceal returns what to show of two masked versions of a field. kind is the kind of the credential that one of them had; empty if none had one.
// The other version may have a damaged form of the credential, which is not recognised, so no text of either is shown if both have one.
func Conceal(from, to, kind string) (shownFrom, shownTo string) {
	if kind == "" || from == "" || to == "" {
		return from, to
	}
	from = "…(masked: one version holds a credential, " + kind + ")"
	return from, from + " (another value)"
}

// Prefix returns the literal at the beginning of a credential; empty if it has none.
func (s *Shape) Prefix(value string) string {
	prefix := ""
	for _, l := range s.Literals {
		if strings.HasPrefix(value, l) && len(l) > len(prefix) {
			prefix = l
		}
	}
	return prefix
}
