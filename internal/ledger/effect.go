package ledger

// EditEffect is a set of things done to a log.
type EditEffect uint8

// The effects.
const (
	// EntryChanged: an entry has become another version of itself.
	EntryChanged EditEffect = 1 << iota
	// EntryLost: an entry is gone.
	EntryLost
	// EntryInserted: an entry was put before older ones.
	EntryInserted
	// InsertionExplained: the same, and a reconcile entry makes it explicit.
	InsertionExplained
	// LogEnded: the whole log is gone.
	LogEnded
	// OfRecord: the log is a record's history of switches, whose file may have any
	// name.
	OfRecord
)

// Has reports whether the two sets share an effect.
func (e EditEffect) Has(some EditEffect) bool { return e&some != 0 }

// RequiredDigests says which digests name such an edit: the entry's before it (from) and after it (to). one is false if there is no
// single answer.
func (e EditEffect) RequiredDigests() (from, to, one bool) {
	switch e {
	case EntryChanged:
		return true, true, true
	case EntryLost, LogEnded:
		return true, false, true
	case EntryInserted:
		return false, true, true
	}
	return false, false, false
}
