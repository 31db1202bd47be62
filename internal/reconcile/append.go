package reconcile

import (
	"fmt"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/small"
)

// Entry is what a new entry says beside its time, as pairs of a key and a text.
type Entry [][2]string

// Append returns a log with an entry behind its last one, and every byte before it as
// it was. The entry's time is now, or a nanosecond after the latest one where that is
// later.
func Append(path string, data []byte, entry Entry, now time.Time, limits small.Limits) ([]byte, error) {
	cannot := func(why string) error {
		return &failure.Error{
			Message: fmt.Sprintf("%s: no entry can be appended: %s", path, why),
			Remedy:  "`small-hook check` says what is wrong with it; `small progress add` adds the first entry, and one of a list in brackets",
		}
	}
	doc, problems := small.Parse(data, limits)
	if doc == nil {
		return nil, cannot(fmt.Sprintf("line %d: %s", max(problems[0].Pos.Line, 1), problems[0].Message))
	}
	before, problems := ledger.LedgerOf(doc)
	if before == nil {
		return nil, cannot(problems[0].Message)
	}
	parts, err := takeApart(data, doc, true)
	if err != nil {
		return nil, cannot(err.Error())
	}
	at := now.UTC()
	for _, e := range before.Entries {
		if last, ok := ledger.ParseInstant(e.Timestamp); ok && !last.Before(at) {
			at = last.UTC().Add(time.Nanosecond)
		}
	}
	added := newEntry(slices.Insert(slices.Clone(entry), 1, [2]string{"timestamp", at.Format(timestampForm)}))
	head := slices.Clone(data[:len(data)-len(parts.footer)])
	out := slices.Concat(ended(head, parts.end), added.text(parts.column, parts.end), parts.footer)
	after, problems := ledger.ReadLog(out, limits)
	if after == nil {
		return nil, cannot(problems[0].Message)
	}
	if !after.Extends(before) || after.Len() != before.Len()+1 {
		return nil, cannot("its last entry would change")
	}
	return out, nil
}
