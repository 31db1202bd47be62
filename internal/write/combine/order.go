package combine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/ledger"
)

// This file orders the entries of the protocol's logs that are combined: the entry with the earlier time comes first.

func sortByTime(items []item) {
	slices.SortStableFunc(items, func(a, b item) int {
		at, _ := ledger.ParseInstant(a.Entry.Timestamp)
		other, _ := ledger.ParseInstant(b.Entry.Timestamp)
		return at.Compare(other)
	})
}

// Tie is the error of two entries with the same time, one of each side.
type Tie struct {
	// Sides are the ids of the two sides' commits.
	Sides   [2]string
	Entries [2]ledger.Entry
}

// Error describes the tie. The failure that wraps it has the message for people.
func (t *Tie) Error() string { return "two entries have the same time" }

// compareByTime returns which of two entries comes first: -1 for a, 1 for b, 0 if they are the same. An entry that both sides have waits until
// the other side reaches it.
func (l *log) compareByTime(a, b item, aInB, bInA bool) (int, error) {
	switch {
	case l.isSame(a, b):
		return 0, nil
	case aInB && bInA:
		return 0, l.errUnordered(b, fmt.Sprintf("%s: the sides have the same entries in different orders: %s of %s, %s of %s",
			l.Path, ledger.Describe(a.Entry), a.from.displayName(), ledger.Describe(b.Entry), b.from.displayName()))
	case aInB:
		return 1, nil
	case bInA:
		return -1, nil
	}
	at, _ := ledger.ParseInstant(a.Entry.Timestamp)
	other, _ := ledger.ParseInstant(b.Entry.Timestamp)
	switch {
	case at.Equal(other):
		one, other := ledger.DescribeBoth(a.Entry, b.Entry)
		return 0, &failure.Error{
			Message: fmt.Sprintf("%s: two different entries have the same time, so they have no order: %s of %s, and %s of %s",
				l.Path, one, a.from.displayName(), other, b.from.displayName()),
			Remedy: "on the branch that is not published yet, rebase on the other: that gives its entry a later time",
			Err:    &Tie{Sides: [2]string{a.from.ID, b.from.ID}, Entries: [2]ledger.Entry{a.Entry, b.Entry}},
		}
	case at.Before(other):
		return -1, nil
	}
	return 1, nil
}

// errUnordered returns the failure of a side whose entry does not fit the order of time.
func (l *log) errUnordered(it item, message string) *failure.Error {
	f := l.errFixSide(it.from.Version, message)
	f.Err = errors.Join(f.Err, ErrOrder)
	return f
}

// checkSideTimes returns an error unless the times of a side increase in the part that is merged by time.
func (l *log) checkSideTimes(before, rest []item) error {
	var last *item
	if len(before) > 0 {
		last = &before[len(before)-1]
	}
	for i := range rest {
		at, ok := ledger.ParseInstant(rest[i].Entry.Timestamp)
		what := ""
		if !ok {
			what = fmt.Sprintf("%s has no valid time", ledger.Describe(rest[i].Entry))
		} else if last != nil {
			if previous, known := ledger.ParseInstant(last.Entry.Timestamp); known && !at.After(previous) {
				what = describeNotLater(rest[i], *last)
			}
		}
		if what != "" {
			return l.errUnordered(rest[i], fmt.Sprintf("%s of %s cannot be merged by time: %s", l.Path, rest[i].from.displayName(), what))
		}
		last = &rest[i]
	}
	return nil
}

// describeNotLater says that an entry is not later than the one before it.
func describeNotLater(it, before item) string {
	one, other := ledger.DescribeBoth(it.Entry, before.Entry)
	return fmt.Sprintf("%s is not later than %s before it", one, other)
}

// checkResultTimes returns an error if the gate would reject the result because times do not increase, also in the common part. No new entry
// corrects that: a person must accept it.
func (l *log) checkResultTimes(items []item, result *ledger.Ledger) error {
	if !l.Comparer.Policy.Rejects(timestampOrder) {
		return nil
	}
	accepted := 0
	if l.Comparer.BeginsWithBaseline(result) {
		accepted = l.Comparer.Baseline.Entries
	}
	for i := max(accepted, 1); i < len(items); i++ {
		at, ok := ledger.ParseInstant(items[i].Entry.Timestamp)
		previous, known := ledger.ParseInstant(items[i-1].Entry.Timestamp)
		if !ok || !known || at.After(previous) {
			continue
		}
		f := l.errFixSide(items[i].from.Version, fmt.Sprintf("%s: %s: the commit would be rejected (%s)", l.Path, describeNotLater(items[i], items[i-1]), timestampOrder))
		if l.baseDigests[items[i].Digest] {
			f.Remedy = "a person has to accept it: `small-hook baseline " + l.mergeBaseText() + "`; then review .small-gate.yml and commit it by itself"
		}
		return f
	}
	return nil
}
