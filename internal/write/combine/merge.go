package combine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// ErrOrder is in the chain of the failure if the entries of two sides cannot be put into one order of time.
var ErrOrder = errors.New("the entries of the sides have no common order")

// mergeByTime merges two lists by time and keeps the order of each. Common entries occur once in the result.
func (l *log) mergeByTime(a, b []item) ([]item, error) {
	var out []item
	for len(a) > 0 && len(b) > 0 && l.isSame(a[0], b[0]) {
		out, a, b = append(out, a[0]), a[1:], b[1:]
	}
	for _, rest := range [][]item{a, b} {
		if err := l.checkSideTimes(out, rest); err != nil {
			return nil, err
		}
	}
	inA, inB := l.classesOf(a), l.classesOf(b)
	for len(a) > 0 && len(b) > 0 {
		first, err := l.compareByTime(a[0], b[0], inB[l.classOf(a[0])], inA[l.classOf(b[0])])
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

// appendMissing appends to a configured log's list the entries that only the second list has. Common entries occur once. If that would change the
// order of the second list, the later ones occur twice; it fails if the configuration rejects that.
func (l *log) appendMissing(first, second []item) ([]item, error) {
	there := map[small.Digest]int{}
	for _, it := range first {
		there[l.classOf(it)]++
	}
	rest := itemsWhere(second, func(it item) bool {
		there[l.classOf(it)]--
		return there[l.classOf(it)] < 0
	})
	if l.kind.stanza.Unordered() {
		return slices.Concat(first, rest), nil
	}
	countInOrder := func(all []item) int { // how many of second's first entries all has, in order
		n := 0
		for _, it := range all {
			if n < len(second) && l.isSame(it, second[n]) {
				n++
			}
		}
		return n
	}
	if all := slices.Concat(first, rest); countInOrder(all) == len(second) {
		return all, nil
	}
	all := slices.Concat(first, second[countInOrder(first):])
	doubled := l.kind.Doubles(ledgersOf(l.versions), ledgerOf(all))
	if len(doubled) == 0 {
		return all, nil
	}
	return nil, &failure.Error{
		Message: fmt.Sprintf("%s: the sides have the same entries in different orders: %s would be there twice", wording.Printable(l.Path), ledger.Describe(doubled[0])),
		Remedy:  "on the branch that is not published yet, rebase on the other: these entries then stay as the other has them",
		Err:     ErrUndo,
	}
}

// applyWaivedEdits applies to a the edits of b that waivers allow: entries that b deleted go, and entries that b changed get b's version.
func (l *log) applyWaivedEdits(a, b []item) []item {
	there := make(map[small.Digest]item, len(b))
	for _, it := range b {
		there[l.classOf(it)] = it
	}
	var out []item
	for _, it := range a {
		other, both := there[l.classOf(it)]
		switch {
		case both:
			out = append(out, l.chooseVersion(it, other))
		case !l.baseDigests[it.Digest] || !l.Comparer.Dropped[it.Digest]:
			out = append(out, it)
		}
	}
	return out
}

func (l *log) classOf(it item) small.Digest { return l.Comparer.Class(it.Digest) }

func (l *log) isSame(a, b item) bool { return l.classOf(a) == l.classOf(b) }

func (l *log) classesOf(items []item) map[small.Digest]bool {
	out := make(map[small.Digest]bool, len(items))
	for _, it := range items {
		out[l.classOf(it)] = true
	}
	return out
}

// chooseVersion returns one of two entries that count as equal: the one into which a waiver allows changing the other, so that redacted
// content does not return. If no waiver decides, the choice is the same in both directions of the merge.
func (l *log) chooseVersion(a, b item) item {
	forth, back := l.Comparer.AllowsTransition(a.Digest, b.Digest), l.Comparer.AllowsTransition(b.Digest, a.Digest)
	switch {
	case a.Digest == b.Digest, back && !forth:
		return a
	case forth && !back:
		return b
	case l.baseDigests[b.Digest]:
		return a
	case l.baseDigests[a.Digest] || b.Digest.String() < a.Digest.String():
		return b
	}
	return a
}
