package subject

import (
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
)

// MergedLog is a log that a merge brings together from two parents.
type MergedLog struct {
	rule.Place
	Path string
	// Sides name the parents, for messages.
	Sides [2]string
	// Duplicates are pairs of entries that say the same at two times, one from each parent.
	Duplicates [][2]ledger.Entry
}
