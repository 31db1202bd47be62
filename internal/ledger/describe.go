package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

// Describe names an entry for people, with text of the file: number, task and time to the second. A line is named by its number in the file.
// A file is only "the file", because its path is known.
func Describe(e Entry) string { return describeWithTime(e, toSecond(e.Timestamp)) }

// DescribeBoth names two entries as Describe does, but with their whole times if these are in the same second.
func DescribeBoth(a, b Entry) (first, second string) {
	if toSecond(a.Timestamp) == toSecond(b.Timestamp) {
		return describeWithTime(a, a.Timestamp), describeWithTime(b, b.Timestamp)
	}
	return Describe(a), Describe(b)
}

// toSecond cuts the fraction of the second from a time. A text that is no time stays.
func toSecond(timestamp string) string { return shortenFraction(timestamp, 0) }

// shortenFraction keeps at most so many digits of the fraction of the second in a time. A text that is no time stays.
func shortenFraction(timestamp string, digits int) string {
	const seconds = len("2006-01-02T15:04:05")
	if _, ok := ParseInstant(timestamp); !ok || len(timestamp) <= seconds || timestamp[seconds] != '.' {
		return timestamp
	}
	zone := strings.TrimLeft(timestamp[seconds:], ".0123456789")
	kept := len(timestamp) - len(zone)
	if digits == 0 {
		kept = seconds
	}
	return timestamp[:min(kept, seconds+1+digits)] + zone
}

// TimeAmong returns an entry's time to the second or, if that is also the time of another entry, with as many digits as tell them apart.
func TimeAmong(e Entry, others []Entry) string {
	for _, digits := range []int{0, 3, 6} {
		short := shortenFraction(e.Timestamp, digits)
		if !slices.ContainsFunc(others, func(o Entry) bool { return o.Digest != e.Digest && shortenFraction(o.Timestamp, digits) == short }) {
			return short
		}
	}
	return e.Timestamp
}

func describeWithTime(e Entry, time string) string {
	switch e.Noun {
	case Switch:
		return fmt.Sprintf("switch %d (%s)", e.Index+1, time)
	case Item:
		return fmt.Sprintf("item %d", e.Index+1)
	case Line:
		return fmt.Sprintf("line %d", e.Pos.Line)
	case Block:
		return fmt.Sprintf("the block at line %d", e.Pos.Line)
	case File:
		return "the file"
	}
	label := "no task_id"
	if e.TaskID != "" {
		label = fmt.Sprintf("%q", e.TaskID)
	}
	if time != "" {
		label += ", " + time
	}
	return fmt.Sprintf("entry %d (%s)", e.Index+1, label)
}

// DescribeAll names several entries, and only the first few of many.
func DescribeAll(entries []Entry) string {
	return wording.Listed(len(entries), func(i int) string { return Describe(entries[i]) })
}

// Pick returns the entries of a ledger at some indexes.
func Pick(l *Ledger, indexes []int) []Entry {
	return pickEntries(l.Entries, indexes)
}

// DigestText writes a digest; a nil one is empty.
func DigestText(d *small.Digest) string {
	if d == nil {
		return ""
	}
	return d.String()
}
