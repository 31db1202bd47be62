package commits

import (
	"fmt"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/wording"
)

// FutureTimestamp is append-only/future-timestamp: a new entry is dated ahead of now.
var FutureTimestamp = rule.New("append-only/future-timestamp", finding.SeverityError, finding.StageHistory, rule.On(checkFutureTimestamp))

// checkFutureTimestamp lets an entry follow one that is ahead itself: that one cannot be changed, and work has to go on.
func checkFutureTimestamp(e *subject.LogChange, r *rule.Reporter) {
	ahead := map[int]bool{}
	for _, index := range e.NewEntries {
		entry := e.New.Entries[index]
		when, ok := ledger.ParseInstant(entry.Timestamp)
		if !ok || !when.After(e.Clock.Add(ledger.ClockTolerance)) || index > 0 && !ahead[index-1] && follows(e.New.Entries[index-1], when) {
			continue
		}
		ahead[index] = true
		f := e.Finding(ledger.Edit{Kind: ledger.EditInserted, OldIndex: -1, NewIndex: index})
		f.Edits = []finding.EditKey{{Path: e.Path + "\x00future", To: f.EditTo}}
		f.Message = fmt.Sprintf("%s is dated %s ahead of now; up to five minutes are allowed, and a millisecond after an entry that is ahead itself", ledger.Describe(entry), wording.Span(when.Sub(e.Clock)))
		f.Fix = e.RecordAgain()
		r.Add(f)
	}
}

// follows reports whether a time is at most a millisecond after that of an entry.
func follows(before ledger.Entry, when time.Time) bool {
	last, ok := ledger.ParseInstant(before.Timestamp)
	return ok && when.After(last) && when.Sub(last) <= time.Millisecond
}
