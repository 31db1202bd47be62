package combine

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Here stand the times that entries get: a new one, and one that is put after others. Which of two entries comes first is decided in order.go.

// TimestampForm is RFC 3339 with nanoseconds, as in the protocol's entries.
const TimestampForm = "2006-01-02T15:04:05.000000000Z"

// timeForNew is the time of a new last entry: up to a millisecond after now, or after the latest entry if that is later. This makes it
// unlikely that two writers get the same time, and no entry is further ahead of the last one than the gate allows.
func timeForNew(l *ledger.Ledger, now time.Time) time.Time {
	at := now.UTC()
	if last := latestTime(l); last.After(at) {
		at = last.UTC()
	}
	return at.Add(time.Duration(1 + rand.IntN(999_999)))
}

// latestTime is the time that a new entry must exceed.
func latestTime(l *ledger.Ledger) time.Time {
	var last time.Time
	for _, e := range l.Entries {
		if at, ok := ledger.ParseInstant(e.Timestamp); ok && at.After(last) {
			last = at
		}
	}
	return last
}

// timeAfterLast is the time of a new entry after one at last: its own, if that is later and not so far ahead of now that no later entry
// could be valid.
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

// FirstBadTimestamp is the first entry added since an older log whose time cannot stay as it is; nil if there is none.
func FirstBadTimestamp(before, after *ledger.Ledger, now time.Time) *ledger.Entry {
	if !after.Extends(before) {
		return nil // they are between older entries
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

// computeNewTimes has, by index, new times for entries that are not later than all before them, each a little after the one before.
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

// isMoved reports whether an entry of a log, equal to another one apart from its time, has a later time that follow gave it.
func isMoved(l *ledger.Ledger, e, from ledger.Entry) bool {
	at, ok := ledger.ParseInstant(e.Timestamp)
	was, known := ledger.ParseInstant(from.Timestamp)
	if e.Index == 0 || !ok || !known || !at.After(was) {
		return false
	}
	before, ok := ledger.ParseInstant(l.Entries[e.Index-1].Timestamp)
	return ok && at.Equal(before.Add(timeStep(from)))
}

// timeStep is the distance of a moved entry from the one before: less than 50 microseconds, always the same for an entry, and different for two
// entries that two branches put on top of one log.
func timeStep(e ledger.Entry) time.Duration {
	return time.Duration(1 + binary.BigEndian.Uint32(e.Digest[:])%49_999)
}

// withTime is an entry with another timestamp, as its last line, where the protocol's own program writes it: this makes git, which merges
// line by line, stop at the next commit that appends, instead of putting an earlier time after this one.
func withTime(entry *small.Value, text string) *small.Value {
	out := *entry
	out.Fields = append(slices.DeleteFunc(slices.Clone(entry.Fields), func(f small.Field) bool { return f.Key == "timestamp" && f.Named() }),
		small.Field{Key: "timestamp", Value: &small.Value{Kind: small.String, Text: text}})
	return &out
}
