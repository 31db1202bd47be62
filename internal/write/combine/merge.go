package combine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/ledger"
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
		first, err := l.first(a[0], b[0], inB[l.class(a[0])], inA[l.class(b[0])])
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

// Tie is the error of two entries with the same time, one of each side.
type Tie struct {
	// Sides are the two commits.
	Sides   [2]string
	Entries [2]ledger.Entry
}

// Error describes the tie. The failure that wraps it has the message for people.
func (t *Tie) Error() string { return "two entries have the same time" }

// first says which of two entries is first: -1 for a, 1 for b, 0 if they are the same. An entry that the other side has too waits until the
// other side reaches it.
func (l *log) first(a, b item, aInB, bInA bool) (int, error) {
	switch {
	case l.same(a, b):
		return 0, nil
	case aInB && bInA:
		return 0, l.unordered(b, fmt.Sprintf("%s: the sides have the same entries in different orders: %s of %s, %s of %s",
			l.Path, ledger.Describe(a.Entry), a.from.Name, ledger.Describe(b.Entry), b.from.Name))
	case aInB:
		return 1, nil
	case bInA:
		return -1, nil
	}
	at, _ := ledger.ParseInstant(a.Entry.Timestamp)
	other, _ := ledger.ParseInstant(b.Entry.Timestamp)
	switch {
	case at.Equal(other):
		return 0, &failure.Error{
			Message: fmt.Sprintf("%s: two different entries have the same time, so they have no order: %s of %s, and %s of %s",
				l.Path, ledger.Describe(a.Entry), a.from.Name, ledger.Describe(b.Entry), b.from.Name),
			Remedy: "on the branch that is not published yet, rebase on the other: that gives its entry a later time",
			Err:    &Tie{Sides: [2]string{a.from.ID, b.from.ID}, Entries: [2]ledger.Entry{a.Entry, b.Entry}},
		}
	case at.Before(other):
		return -1, nil
	}
	return 1, nil
}

// unordered is the failure of a side with an entry that does not fit the time order.
func (l *log) unordered(it item, message string) *failure.Error {
	f := l.unsound(it.from.Version, message)
	f.Err = errors.Join(f.Err, ErrOrder)
	return f
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
