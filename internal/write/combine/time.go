package combine

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// This file computes the times of new entries, and of entries that are put after others. order.go decides which entry comes first.

// TimestampForm is RFC 3339 with nanoseconds, as in the protocol's entries.
const TimestampForm = "2006-01-02T15:04:05.000000000Z"

// timeForNew returns the time of a new last entry: up to a millisecond after now, or after the latest entry if that is later. The random part
// makes it unlikely that two writers get the same time, and no entry is further ahead of the last one than the gate allows.
func timeForNew(l *ledger.Ledger, now time.Time) time.Time {
	at := now.UTC()
	if last := latestTime(l); last.After(at) {
		at = last.UTC()
	}
	return at.Add(time.Duration(1 + rand.IntN(999_999)))
}

// latestTime returns the latest time in a log: a new entry must be later.
func latestTime(l *ledger.Ledger) time.Time {
	var last time.Time
	for _, e := range l.Entries {
		if at, ok := ledger.ParseInstant(e.Timestamp); ok && at.After(last) {
			last = at
		}
	}
	return last
}

// timeAfterLast returns the time for a new entry after one at the time last. This is the entry's own timestamp, and own is true, if the timestamp is
// later than last and not so far ahead of now that no later entry could be valid.
func timeAfterLast(timestamp string, last, now time.Time) (at time.Time, own bool) {
	at, own = ledger.ParseTimestamp(timestamp)
	if !own || at.After(now.Add(ledger.ClockTolerance)) && at.After(last.Add(time.Millisecond)) {
		at, own = now, false
	}
	if !at.After(last) {
		at, own = last.Add(time.Nanosecond), false
	}
	return at, own
}

// FirstBadTimestamp returns the first entry appended to an older log whose time cannot stay; nil if there is none.
func FirstBadTimestamp(before, after *ledger.Ledger, now time.Time) *ledger.Entry {
	if !after.Extends(before) {
		return nil // new entries are between old ones, or old ones are missing
	}
	last := latestTime(before)
	for i, e := range after.Entries[before.Len():] {
		at, own := timeAfterLast(e.Timestamp, last, now)
		if !own {
			return &after.Entries[before.Len()+i]
		}
		last = at
	}
	return nil
}

// computeNewTimes returns new times, by index in the side's file, for items that are not later than all entries before them, each a little after
// the entry before it. before are these entries, as far as they are no items.
func computeNewTimes(items []item, before ...[]item) map[int]string {
	last := latestTime(ledgerOf(slices.Concat(before...)))
	times := map[int]string{}
	for _, it := range items {
		at, ok := ledger.ParseInstant(it.Entry.Timestamp)
		if !ok {
			continue // comparing times reports an invalid one
		}
		if !at.After(last) {
			at = last.Add(timeStep(it.Entry))
			times[it.index] = at.UTC().Format(TimestampForm)
		}
		last = at
	}
	return times
}

// isRetimedCopy reports whether e, an entry of a log that equals from apart from its time, has the later time that putAfterOurs gave it.
func isRetimedCopy(l *ledger.Ledger, e, from ledger.Entry) bool {
	at, ok := ledger.ParseInstant(e.Timestamp)
	was, known := ledger.ParseInstant(from.Timestamp)
	if e.Index == 0 || !ok || !known || !at.After(was) {
		return false
	}
	before, ok := ledger.ParseInstant(l.Entries[e.Index-1].Timestamp)
	return ok && at.Equal(before.Add(timeStep(from)))
}

// timeStep returns how long after the entry before it a moved entry is: less than 50 microseconds, always the same for an entry, and most likely
// different for two entries that two branches put after the same log.
func timeStep(e ledger.Entry) time.Duration {
	return time.Duration(1 + binary.BigEndian.Uint32(e.Digest[:])%49_999)
}

// withTime returns an entry with another timestamp, in its last line, where the protocol's own program writes it. So git, which merges line by
// line, stops at the next commit that appends, instead of putting an entry with an earlier time after this one.
func withTime(entry *small.Value, text string) *small.Value {
	out := *entry
	out.Fields = append(slices.DeleteFunc(slices.Clone(entry.Fields), func(f small.Field) bool { return f.Key == "timestamp" && f.HasStringKey() }),
		small.Field{Key: "timestamp", Value: &small.Value{Kind: small.String, Text: text}})
	return &out
}
