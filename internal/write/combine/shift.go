package combine

import (
	"slices"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// putAfterOurs returns a picked side of the protocol's log as it is put after ours. Of the entries that ours lacks, published ones keep their text and
// time. The others come last, with a time just after the entry before if their own is not later. An entry that ours has with another time is left out.
func (l *log) putAfterOurs(v, ours *version) (*version, error) {
	there := l.classesOf(ours.items)
	isFresh := func(it item) bool { return !there[l.classOf(it)] }
	fresh := itemsWhere(v.items, isFresh)
	copies, err := l.findRetimedCopies(v, ours)
	if err != nil {
		return nil, err
	}
	if len(copies) == 0 && len(computeNewTimes(fresh, ours.items)) == 0 {
		return v, nil
	}
	published, err := l.findPublished(fresh)
	if err != nil {
		return nil, err
	}
	isOwn := func(it item) bool { return isFresh(it) && !published[it.Digest] }
	stays := itemsWhere(v.items, func(it item) bool { return !isOwn(it) })
	own := itemsWhere(v.items, func(it item) bool { return isOwn(it) && !copies[it.Digest] })
	times := computeNewTimes(own, ours.items, itemsWhere(fresh, func(it item) bool { return published[it.Digest] }))
	out := *v
	out.items = slices.Concat(stays, own)
	for i, it := range out.items {
		if text, moves := times[it.index]; moves {
			moved := item{value: withTime(it.value, text), from: v, index: it.index}
			moved.Entry = ledger.NewLedger([]*small.Value{moved.value}).Entries[0]
			moved.Index = it.Index
			out.items[i] = moved
			l.retimed[moved.Digest] = true
		}
	}
	out.ledger = ledgerOf(out.items)
	return &out, nil
}

func (l *log) findPublished(items []item) (map[small.Digest]bool, error) {
	if l.Published == nil {
		return nil, nil
	}
	return l.Published(ledgerOf(items).Entries)
}

func itemsWhere(items []item, wanted func(item) bool) []item {
	return slices.DeleteFunc(slices.Clone(items), func(it item) bool { return !wanted(it) })
}

// findRetimedCopies returns the picked side's entries that ours has with another time, because one of the two got a later time when it was put
// after a log. An entry that only has the same text is another entry: a pick may leave out copies, but not what was recorded twice.
func (l *log) findRetimedCopies(v, ours *version) (map[small.Digest]bool, error) {
	if v.doc == nil || ours.doc == nil {
		return nil, nil
	}
	records := func(of *version) ledger.RecordsFunc {
		return func() ([]*small.Value, error) { return of.doc.Root.Get("entries").Items, nil }
	}
	own, others := ledger.OwnEntries(v.written.Ledger, ours.written.Ledger)
	pairs, err := ledger.Duplicates(own, others, records(v), records(ours))
	out := map[small.Digest]bool{}
	for _, p := range pairs {
		if isRetimedCopy(v.written.Ledger, p.Ours, p.Theirs) || isRetimedCopy(ours.written.Ledger, p.Theirs, p.Ours) {
			out[p.Ours.Digest] = true
		}
	}
	return out, err
}
