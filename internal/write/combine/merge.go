package combine

import (
	"errors"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// ErrOrder is in the chain of the failure if two sides' entries cannot all be in time order.
var ErrOrder = errors.New("the entries of the sides have no common order")

// merge merges two lists by time and keeps the order of each. Common entries occur once. Neither list continues the other.
func (l *log) merge(a, b []item) ([]item, error) {
	var out []item
	for len(a) > 0 && len(b) > 0 && l.same(a[0], b[0]) {
		out, a, b = append(out, a[0]), a[1:], b[1:]
	}
	for _, rest := range [][]item{a, b} {
		if err := l.rising(out, rest); err != nil {
			return nil, err
		}
	}
	inA, inB := l.classes(a), l.classes(b)
	for len(a) > 0 && len(b) > 0 {
		first, err := l.earlierOf(a[0], b[0], inB[l.class(a[0])], inA[l.class(b[0])])
		if err != nil {
			return nil, err
		}
		switch {
		case first == 0:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		case first < 0:
			out, a = append(out, a[0]), a[1:]
		default:
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...), nil
}

// continued is a plain list followed by the entries that only another one has. Common entries occur once, unless that would change the
// order of the second.
func (l *log) continued(first, second []item) []item {
	there := map[small.Digest]int{}
	for _, it := range first {
		there[l.class(it)]++
	}
	rest := keep(second, func(it item) bool {
		there[l.class(it)]--
		return there[l.class(it)] < 0
	})
	if l.kind.stanza.Unordered() {
		return slices.Concat(first, rest)
	}
	begun := func(all []item) int { // how many entries of second it has, in order
		n := 0
		for _, it := range all {
			if n < len(second) && l.same(it, second[n]) {
				n++
			}
		}
		return n
	}
	if all := slices.Concat(first, rest); begun(all) == len(second) {
		return all
	}
	return slices.Concat(first, second[begun(first):])
}

// waived is the list a with the edits of b that waivers allow: without entries that b deleted, and with b's version of entries that it
// changed.
func (l *log) waived(a, b []item) []item {
	there := make(map[small.Digest]item, len(b))
	for _, it := range b {
		there[l.class(it)] = it
	}
	var out []item
	for _, it := range a {
		other, both := there[l.class(it)]
		switch {
		case both:
			out = append(out, l.choose(it, other))
		case !l.base[it.Digest] || !l.Comparer.Dropped[it.Digest]:
			out = append(out, it)
		}
	}
	return out
}

func (l *log) class(it item) small.Digest { return l.Comparer.Class(it.Digest) }

func (l *log) same(a, b item) bool { return l.class(a) == l.class(b) }

func (l *log) classes(items []item) map[small.Digest]bool {
	out := make(map[small.Digest]bool, len(items))
	for _, it := range items {
		out[l.class(it)] = true
	}
	return out
}

// choose takes one of two entries that count as equal: the one into which a waiver allows the other to be changed, so that redacted content
// does not return. If no waiver decides, the choice is the same whoever merges.
func (l *log) choose(a, b item) item {
	forth, back := l.Comparer.AllowsTransition(a.Digest, b.Digest), l.Comparer.AllowsTransition(b.Digest, a.Digest)
	switch {
	case a.Digest == b.Digest, back && !forth:
		return a
	case forth && !back:
		return b
	case l.base[b.Digest]:
		return a
	case l.base[a.Digest] || b.Digest.String() < a.Digest.String():
		return b
	}
	return a
}
