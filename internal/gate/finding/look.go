package finding

import (
	"time"

	"github.com/small-gate/small-gate/internal/gate/owner"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Look holds the entries of logs that small-hook log shows.
type Look struct {
	// Revision is the full id of the commit that has the logs; empty for those of the work tree.
	Revision string
	Logs     []LedgerState
	// Entries are in the order asked for.
	Entries []Recorded
}

// Recorded is an entry of a log, with who recorded it and when.
type Recorded struct {
	ledger.Entry
	// Path is the log's path.
	Path string
	// Value is the entry in full. It may hold credentials.
	Value *small.Value
	By    owner.Owner
	// Commit is the commit that brought the entry. Its id is empty if the entry is not committed yet.
	Commit Commit
}

// Instant returns the entry's own time, or its commit's if the entry has none that can be read. ok is false if neither is known.
func (r *Recorded) Instant() (t time.Time, ok bool) {
	if t, ok = ledger.ParseInstant(r.Timestamp); !ok {
		t, ok = ledger.ParseInstant(r.Commit.Date)
	}
	return t, ok
}
