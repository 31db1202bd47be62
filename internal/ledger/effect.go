package ledger

// EditEffect is a set of effects that edits have on a log.
type EditEffect uint8

// The effects.
const (
	// EntryChanged: an entry has become another version of itself.
	EntryChanged EditEffect = 1 << iota
	// EntryLost: an entry is gone.
	EntryLost
	// EntryInserted: an entry was put before older ones.
	EntryInserted
	// InsertionExplained: an entry was put before older ones, and a reconcile entry makes that explicit.
	InsertionExplained
	// LogEnded: the whole log is gone.
	LogEnded
	// OfRecord: the log is a record's history of switches, whose file may have any
	// name.
	OfRecord
)

// Has reports whether the two sets have an effect in common.
func (e EditEffect) Has(some EditEffect) bool { return e&some != 0 }

// RequiredDigests says which digests identify an edit with this effect: the one before it (from), the one after it (to). ok is false if e is
// not exactly one of the effects that digests identify.
func (e EditEffect) RequiredDigests() (from, to, ok bool) {
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
