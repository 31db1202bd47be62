package subject

import (
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
)

// MergedLog is a log that a commit merges from two of its parents.
type MergedLog struct {
	rule.Place
	Path string
	// Sides name the parents, for messages.
	Sides [2]string
	// Duplicates are pairs of entries of the log, of one parent each, that say the same at two times.
	Duplicates [][2]ledger.Entry
}
